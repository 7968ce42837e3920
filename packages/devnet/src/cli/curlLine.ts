/** A call as it goes over the wire. */
export interface WireCall {
  /** The service's base URL without a trailing slash. */
  baseUrl: string
  endpoint: '/evm-chain' | '/solana'
  method: string
  chainId: number
  params: readonly unknown[]
  projectId: string
  serverKey: string
}

/** One line to paste into a shell that makes the call, credentials included. */
export function curlLine({
  baseUrl,
  endpoint,
  method,
  chainId,
  params,
  projectId,
  serverKey
}: WireCall): string {
  const credentials = Buffer.from(`${projectId}:${serverKey}`, 'utf8').toString('base64')
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId, params })
  const headers = [`Authorization: Basic ${credentials}`, 'Content-Type: application/json']
  const options = headers.map(header => `-H ${shellQuote(header)}`).join(' ')
  return `curl -s ${shellQuote(baseUrl + endpoint)} ${options} -d ${shellQuote(body)}`
}

/** Single quotes keep everything as it is, except themselves. */
function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
