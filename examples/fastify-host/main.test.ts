import { describeHost } from '../describeHost.ts'

describeHost({
  name: 'a Fastify host',
  folder: new URL('./', import.meta.url),
  command: ['main.ts'],
  basePath: '/chain-data',
  echoPath: '/echo'
})
