import type { SolanaTransactionHistory } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import type { ConfigInput } from '../../src/server/config/config.ts'
import { createServer } from '../../src/server/start/createServer.ts'

type SolanaChain = NonNullable<NonNullable<ConfigInput['chains']>['solana']>[number]

export interface HistoryService {
  /** An answer that is valid by the document. @throws when it is an error. */
  history(wallet: string, options?: object): Promise<SolanaTransactionHistory>
  /** The whole answer, an error or not. */
  ask(
    wallet: string,
    options?: object
  ): Promise<{ result?: SolanaTransactionHistory; error?: { data: Record<string, unknown> } }>
  close(): Promise<void>
}

const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`

/** The whole server, listening on loopback, over one cluster. */
export async function startHistoryService(
  cluster: Omit<SolanaChain, 'chainId'>,
  config: Partial<ConfigInput> = {}
): Promise<HistoryService> {
  const server = await createServer({
    listen: { port: 0 },
    store: 'sqlite::memory:',
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: { solana: [{ chainId: 103, dev: true, ...cluster }] },
    rateLimit: false,
    overload: false,
    ...config
  })
  const url = await server.listen()
  async function ask(wallet: string, options?: object) {
    const params = options === undefined ? [wallet] : [wallet, options]
    const response = await fetch(`${url}/solana`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, chainId: 103 },
        ...{ method: 'enhancedGetTransactionsByAddress', params }
      })
    })
    return (await response.json()) as Awaited<ReturnType<HistoryService['ask']>>
  }
  return {
    ask,
    async history(wallet, options) {
      const answer = await ask(wallet, options)
      if (answer.result === undefined) throw new Error(`no result: ${JSON.stringify(answer)}`)
      const wrong = checkResult('enhancedGetTransactionsByAddress', answer.result)
      if (wrong !== undefined) throw new Error(`${wrong.path} ${wrong.message}`)
      return answer.result
    },
    close: () => server.close()
  }
}
