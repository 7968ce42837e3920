import { fileURLToPath } from 'node:url'
import { describeHost } from '../describeHost.ts'

describeHost({
  name: 'a node:http host',
  main: fileURLToPath(new URL('main.ts', import.meta.url)),
  basePath: '/chain-data'
})
