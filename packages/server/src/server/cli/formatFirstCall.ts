/** Words the first call of a new service twice: as one command for a shell, and as a program with the client. */
export function formatFirstCall(call: {
  readonly baseUrl: string
  readonly projectId: string
  readonly serverKey: string
  readonly kind: 'evm' | 'solana'
  readonly chainId: number
  readonly address: string
}): { readonly curl: string; readonly program: string } {
  const { baseUrl, projectId, serverKey, chainId, address } = call
  const [path, method, clientMethod, limit] =
    call.kind === 'evm'
      ? ['evm-chain', 'svc_getTransactionsByAddress', 'getTransactionsByAddress', { limit: 5 }]
      : ['solana', 'enhancedGetTokensAndNFTs', 'enhancedGetTokensAndNFTs']
  const params = limit === undefined ? [address] : [address, limit]
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId, params })
  // Single quotes keep everything as it is, except themselves.
  const [user, data] = [`${projectId}:${serverKey}`, body].map(text => `'${text.replaceAll("'", `'\\''`)}'`)
  const program = `import { createClient } from '@chain-data/client'

const client = createClient({
  baseUrl: '${baseUrl}',
  projectId: '${projectId.replace(/['\\]/g, '\\$&')}',
  serverKey: '${serverKey}',
  chainId: ${chainId}
})
console.log(await client.${clientMethod}({ address: '${address}'${limit === undefined ? '' : ', limit: 5'} }))`
  const curl = `curl -s ${baseUrl}/${path} -u ${user} -H 'Content-Type: application/json' -d ${data}`
  return { curl, program }
}
