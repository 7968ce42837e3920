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
  const isEvm = chain.kind === 'evm'
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: isEvm ? 'svc_getTransactionsByAddress' : 'enhancedGetTokensAndNFTs',
    chainId: chain.chainId,
    params: isEvm ? [address, { limit: 5 }] : [address]
  })
  const path = isEvm ? '/evm-chain' : '/solana'
  return `curl -s ${baseUrl}${path} -u ${quote(`${projectId}:${serverKey}`)} -H 'Content-Type: application/json' -d ${quote(body)}`
}

/** Single quotes keep everything as it is, except themselves. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Words the same call as a program with the client. */
export function formatProgram({ baseUrl, projectId, serverKey, chain, address }: FirstCall): string {
  const call =
    chain.kind === 'evm'
      ? `client.getTransactionsByAddress({ address: '${address}', limit: 5 })`
      : `client.enhancedGetTokensAndNFTs({ address: '${address}' })`
  return [
    "import { createClient } from '@chain-data/client'",
    '',
    'const client = createClient({',
    `  baseUrl: '${baseUrl}',`,
    `  projectId: '${projectId.replace(/['\\]/g, '\\$&')}',`,
    `  serverKey: '${serverKey}',`,
    `  chainId: ${chain.chainId}`,
    '})',
    `console.log(await ${call})`
  ].join('\n')
}
