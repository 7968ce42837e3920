import { createRoute } from '@chain-data/client/route'

/** Answers this application's own pages. Created for each request: `next build` loads this file and has no key. */
export const POST = (request: Request): Promise<Response> =>
  createRoute({
    baseUrl: process.env.CHAIN_DATA_URL ?? 'http://127.0.0.1:3000/api/chain-data',
    projectId: 'demo',
    serverKey: process.env.CHAIN_DATA_SERVER_KEY ?? 'demo-server-key',
    allow: ['svc_getTransactionsByAddress', 'svc_getTokensAndNFTs', 'svc_getSyncStatus', 'svc_watchAddresses']
  })(request)
