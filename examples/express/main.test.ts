import { fileURLToPath } from 'node:url'
import { describeHost } from '../describeHost.ts'

describeHost({
  name: 'an Express host',
  main: fileURLToPath(new URL('main.ts', import.meta.url)),
  basePath: '/chain-data',
  echoPath: '/echo'
})
