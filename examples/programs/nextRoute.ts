/**
 * A route of Next that reads an account on the server: `app/api/accounts/[address]/route.ts`. The page that calls it needs no key
 * and no library.
 */
import { ChainDataClientError, createClient } from '@chain-data/client/fetch'

/** A call that the visitor gives up ends here, too. */
export async function GET(
  request: Request,
  { params }: { readonly params: Promise<{ readonly address: string }> }
): Promise<Response> {
  const { address } = await params
  // It opens nothing, so one for each request is all right. `next build` has no key and does not come here.
  const client = createClient({
    baseUrl: process.env.CHAIN_DATA_URL ?? 'http://127.0.0.1:8080',
    projectId: 'demo',
    serverKey: process.env.CHAIN_DATA_SERVER_KEY ?? '',
    chainId: 31337
  })
  try {
    const call = { address, signal: request.signal }
    const [holdings, newest] = await Promise.all([
      client.getTokensAndNFTs(call),
      client.getTransactionsByAddress({ ...call, limit: 25 })
    ])
    return Response.json({ holdings, newest })
  } catch (error) {
    if (!(error instanceof ChainDataClientError)) throw error
    const seconds = Math.ceil((error.retryAfterMs ?? 1_000) / 1_000)
    return error.retryable
      ? Response.json({ error: error.message }, { status: 503, headers: { 'retry-after': `${seconds}` } })
      : Response.json({ error: error.message }, { status: 400 })
  }
}
