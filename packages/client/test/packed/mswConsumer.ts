// Compiled against the packed declarations and msw's own, which need the DOM.
import { createHandlers, type MockOptions, rpcFault } from '@chain-data/client/msw'
import { setupServer } from 'msw/node'

const options = {
  baseUrl: 'https://rpc.example.com',
  methods: {
    svc_getTransactionsByAddress: ({ params: [address], chainId }) =>
      address === '0x' && chainId === 1 ? [] : rpcFault('RATE_LIMITED', { retryAfterMs: 5 })
  }
} satisfies MockOptions

// @ts-expect-error: a list is no holdings answer.
export const wrong: MockOptions = { ...options, methods: { svc_getTokensAndNFTs: [] } }

export const server = setupServer(...createHandlers(options))
