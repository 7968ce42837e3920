import axios, { type AxiosAdapter } from 'axios'

/** One way of sending a JSON-RPC call. */
export interface Contender {
  readonly name: string
  /** What it is compared with: the bare transport below it. */
  readonly bare: 'fetch' | 'axios'
  /** Sends one call and resolves with its result. */
  readonly call: () => Promise<unknown>
}

/** A contender, or why it cannot take part here. */
export type Entrant = Contender | { readonly name: string; readonly skipped: string }

const baseUrl = 'https://rpc.example.com'
const address = '0x425249Cf0F2f91f488E24cF7B1AA3186748f7516'
const headers = { 'content-type': 'application/json' }

/** The same answer for everyone, under the id that was sent. */
function answerTo(body: string): string {
  const id = /"id":("[^"]*"|\d+)/.exec(body)?.[1] ?? '1'
  return `{"jsonrpc":"2.0","id":${id},"result":{"native":"10000000000000000000","tokens":[],"nfts":[]}}`
}

/** Answers at once with a real `Response`; no socket, no server. */
const mockFetch = async (input: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
  const body = typeof init?.body === 'string' ? init.body : ''
  if (body === '' && input instanceof Request) return new Response(answerTo(''), { headers })
  return new Response(answerTo(body), { headers })
}

/** The same below axios. */
const mockAdapter: AxiosAdapter = async config => ({
  data: answerTo(String(config.data)),
  status: 200,
  statusText: 'OK',
  headers: { ...headers },
  config
})

function bareBody(id: number): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'svc_getTokensAndNFTs', chainId: 1, params: [address] })
}

async function entrant(name: string, create: () => Promise<Contender>): Promise<Entrant> {
  try {
    const contender = await create()
    await contender.call()
    return contender
  } catch (error) {
    return { name, skipped: error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error) }
  }
}

/** All that load here, on mocked transports: the global `fetch` and the default adapter of axios are replaced. */
export async function createContenders(): Promise<readonly Entrant[]> {
  globalThis.fetch = mockFetch as typeof fetch
  axios.defaults.adapter = mockAdapter
  let id = 0

  return Promise.all([
    entrant('bare fetch', async () => ({
      name: 'bare fetch',
      bare: 'fetch',
      call: async () => {
        id += 1
        const response = await fetch(`${baseUrl}/evm-chain`, { method: 'POST', headers, body: bareBody(id) })
        return ((await response.json()) as { result: unknown }).result
      }
    })),
    entrant('bare axios', async () => ({
      name: 'bare axios',
      bare: 'axios',
      call: async () => {
        id += 1
        const { data } = await axios.post(`${baseUrl}/evm-chain`, bareBody(id), { headers })
        return data.result
      }
    })),
    entrant('@chain-data/client/fetch', async () => {
      const { createClient } = await import('@chain-data/client/fetch')
      const client = createClient({ baseUrl, projectId: 'bench', serverKey: 'bench-key', chainId: 1 })
      return {
        name: '@chain-data/client/fetch',
        bare: 'fetch',
        call: () => client.getTokensAndNFTs({ address })
      }
    }),
    entrant('@chain-data/client', async () => {
      // The entry takes no adapter of another's making, so the same parts are put together here.
      const { buildClient } = await import('../src/buildClient.ts')
      const { createAxiosTransport } = await import('../src/axiosTransport.ts')
      const options = { baseUrl, projectId: 'bench', serverKey: 'bench-key', chainId: 1 }
      const client = buildClient(options, createAxiosTransport(mockAdapter))
      return { name: '@chain-data/client', bare: 'axios', call: () => client.getTokensAndNFTs({ address }) }
    }),
    entrant('viem', async () => {
      const { createClient, http } = await import('viem')
      const client = createClient({ transport: http(`${baseUrl}/evm-chain`) })
      const method = 'svc_getTokensAndNFTs' as never
      return {
        name: 'viem',
        bare: 'fetch',
        call: () => client.request({ method, params: [address] as never })
      }
    }),
    entrant('@solana/kit', async () => {
      const { createSolanaRpc } = await import('@solana/kit')
      const rpc = createSolanaRpc(`${baseUrl}/solana`)
      return { name: '@solana/kit', bare: 'fetch', call: () => rpc.getSlot().send() }
    }),
    entrant('openapi-fetch', async () => {
      const { default: createOpenApiClient } = await import('openapi-fetch')
      const client = createOpenApiClient<never>({ baseUrl })
      const post = client.POST as unknown as (
        path: string,
        init: object
      ) => Promise<{ data?: { result: unknown } }>
      return {
        name: 'openapi-fetch',
        bare: 'fetch',
        call: async () => {
          id += 1
          const body = { jsonrpc: '2.0', id, method: 'svc_getTokensAndNFTs', chainId: 1, params: [address] }
          return (await post('/evm-chain', { body })).data?.result
        }
      }
    })
  ])
}
