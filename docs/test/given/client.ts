import { createClient } from '@chain-data/client'

/** A client of the service that the test runs. */
export const client = createClient({
  baseUrl: 'http://127.0.0.1:8080',
  projectId: 'demo',
  serverKey: 'demo-server-key',
  chainId: 31337
})
