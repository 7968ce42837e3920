import type { SolanaHoldings } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import { createLogger } from '../../src/platform/logger.ts'
import type { ConfigInput } from '../../src/server/config/config.ts'
import { createServer } from '../../src/server/start/createServer.ts'

type SolanaChain = NonNullable<NonNullable<ConfigInput['chains']>['solana']>[number]

export interface SolanaService {
  /** Everything it has logged, at the most talkative level. */
  readonly logLines: readonly string[]
  /** An answer that is valid by the document. @throws when it is an error. */
  holdings(...params: readonly unknown[]): Promise<SolanaHoldings>
  /** The answer about holdings as it came over HTTP. */
  text(...params: readonly unknown[]): Promise<string>
  /** The answer of any method as it came over HTTP. */
  call(method: string, params: readonly unknown[]): Promise<string>
  close(): Promise<void>
}

const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`

/** The whole server, listening on loopback, over one cluster. */
export async function startSolanaService(
  cluster: Omit<SolanaChain, 'chainId'>,
  config: Partial<ConfigInput> = {}
): Promise<SolanaService> {
  const logLines: string[] = []
  const server = await createServer(
    {
      listen: { port: 0 },
      store: 'sqlite::memory:',
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: { solana: [{ chainId: 103, dev: true, ...cluster }] },
      rateLimit: false,
      overload: false,
      ...config
    },
    { logger: createLogger({ level: 'debug', write: line => logLines.push(line) }) }
  )
  const url = await server.listen()
  async function call(method: string, params: readonly unknown[]): Promise<string> {
    const response = await fetch(`${url}/solana`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, chainId: 103, method, params })
    })
    return response.text()
  }
  const text = (...params: readonly unknown[]) => call('enhancedGetTokensAndNFTs', params)
  return {
    logLines,
    ...{ text, call },
    async holdings(...params) {
      const answer = await text(...params)
      const { result } = JSON.parse(answer) as { result?: SolanaHoldings }
      if (result === undefined) throw new Error(`no result: ${answer}`)
      const problem = checkResult('enhancedGetTokensAndNFTs', result)
      if (problem !== undefined) throw new Error(`not valid: ${JSON.stringify(problem)}`)
      return result
    },
    close: () => server.close()
  }
}
