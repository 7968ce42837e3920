/**
 * A worker (Cloudflare's module form) that answers pages with what an account holds: `GET /?address=0x7099…`. The key is a
 * secret of the worker. Only the code of one method is in the bundle.
 */
import { ChainDataClientError, createConnection, getTokensAndNFTs } from '@chain-data/client/actions'

/** The worker's variables and secrets. */
export interface Env {
  readonly CHAIN_DATA_URL: string
  readonly CHAIN_DATA_SERVER_KEY: string
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const address = new URL(request.url).searchParams.get('address')
    if (address === null) return Response.json({ error: 'address is missing' }, { status: 400 })
    const connection = createConnection({
      baseUrl: env.CHAIN_DATA_URL,
      projectId: 'demo',
      serverKey: env.CHAIN_DATA_SERVER_KEY,
      chainId: 31337
    })
    try {
      const { native, tokens } = await getTokensAndNFTs(connection, { address })
      return Response.json({ native, tokens }, { headers: { 'cache-control': 'public, max-age=5' } })
    } catch (error) {
      if (!(error instanceof ChainDataClientError)) throw error
      // Its message holds no key.
      return Response.json({ error: error.message }, { status: error.retryable ? 503 : 400 })
    }
  }
}
