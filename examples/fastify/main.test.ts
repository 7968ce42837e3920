import { fileURLToPath } from 'node:url'
import { describeHost } from '../describeHost.ts'

describeHost({
  name: 'a Fastify host',
  main: fileURLToPath(new URL('main.ts', import.meta.url)),
  basePath: '/chain-data',
  echoPath: '/echo'
})
