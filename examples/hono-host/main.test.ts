import { describeHost } from '../describeHost.ts'

describeHost({
  name: 'a Hono host',
  folder: new URL('./', import.meta.url),
  command: ['main.ts'],
  basePath: '/chain-data',
  echoPath: '/echo'
})
