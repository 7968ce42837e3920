// Compiled against the packed declarations and TanStack Query's own, which need the DOM.
import { createClient } from '@chain-data/client'
import { createClient as createFetchClient } from '@chain-data/client/fetch'
import { getTokensAndNFTsQuery, transactionPagesQuery, verifyHistoryQuery } from '@chain-data/client/query'

const options = { baseUrl: 'https://rpc.example.com', projectId: 'p', serverKey: 'k' }
const client = createClient(options)
const small = createFetchClient({ ...options, chainId: 1 })

export function keysOf(address: string): string {
  const proof = verifyHistoryQuery(small, { address, chainId: 1 })
  const query = getTokensAndNFTsQuery(small, { address })
  const pages = transactionPagesQuery(client, { address, chainId: 1 })
  return [query.queryKey, pages.initialPageParam, proof.queryKey].join()
}
