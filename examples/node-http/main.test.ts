import { describeHost } from '../describeHost.ts'

describeHost({
  name: 'a node:http host',
  folder: new URL('./', import.meta.url),
  command: ['main.ts'],
  basePath: '/chain-data'
})
