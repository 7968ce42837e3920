import { fileURLToPath } from 'node:url'
import { describeHost } from '../describeHost.ts'

describeHost({
  name: 'a Hono host',
  main: fileURLToPath(new URL('main.ts', import.meta.url)),
  basePath: '/chain-data',
  echoPath: '/echo'
})
