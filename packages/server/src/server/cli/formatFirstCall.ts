/** What a caller of the new service needs to know. */
export interface FirstCall {
  readonly baseUrl: string
  readonly projectId: string
  readonly serverKey: string
  readonly chain: { readonly kind: 'evm' | 'solana'; readonly chainId: number }
  readonly address: string
}

/** Words the first call of a service as one command for a shell. */
export function formatCurl({ baseUrl, projectId, serverKey, chain, address }: FirstCall): string {
  const [path, method, params] =
    chain.kind === 'evm'
      ? ['evm-chain', 'svc_getTransactionsByAddress', [address, { limit: 5 }]]
      : ['solana', 'enhancedGetTokensAndNFTs', [address]]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId: chain.chainId, params })
  // Single quotes keep everything as it is, except themselves.
  const [user, data] = [`${projectId}:${serverKey}`, body].map(text => `'${text.replaceAll("'", `'\\''`)}'`)
  return `curl -s ${baseUrl}/${path} -u ${user} -H 'Content-Type: application/json' -d ${data}`
}

/** Words the same call as a program with the client. */
export function formatProgram({ baseUrl, projectId, serverKey, chain, address }: FirstCall): string {
  const isEvm = chain.kind === 'evm'
  const method = isEvm ? 'getTransactionsByAddress' : 'enhancedGetTokensAndNFTs'
  return `import { createClient } from '@chain-data/client'

const client = createClient({
  baseUrl: '${baseUrl}',
  projectId: '${projectId.replace(/['\\]/g, '\\$&')}',
  serverKey: '${serverKey}',
  chainId: ${chain.chainId}
})
console.log(await client.${method}({ address: '${address}'${isEvm ? ', limit: 5' : ''} }))`
}
