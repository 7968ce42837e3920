import { eventually } from '@chain-data/index/test'
import type { EvmHoldings, TransactionRecord } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import { createLogger } from '../../src/platform/logger.ts'
import { createServer } from '../../src/server/start/createServer.ts'

const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`

/** An answer as it came. */
interface Answer<T> {
  readonly result?: T
  readonly error?: { readonly message: string; readonly data: Readonly<Record<string, unknown>> }
  /** What the header says that it covers. */
  readonly coverage: string | null
}

/** A whole server over one chain of a test node. */
export interface DeepService {
  ask<T>(method: string, params: readonly unknown[]): Promise<Answer<T>>
  /** Valid by the document. @throws when it is refused. */
  history(address: string, page?: object): Promise<readonly TransactionRecord[]>
  /** What is held, without what metadata adds. @throws when it is refused. */
  holdings(address: string): Promise<object>
  /** Where the index begins. */
  indexedFrom(): number
  close(): Promise<void>
}

/** Starts a server and waits until its index is level with the node, and begins where it should. */
export async function startDeepService(options: {
  readonly nodeUrl: string
  readonly store: string
  readonly chain?: Readonly<Record<string, unknown>>
  readonly limits?: Readonly<Record<string, number>>
  readonly history?: Readonly<Record<string, unknown>>
  /** The configuration's `deepHistory`. */
  readonly deepHistory?: Readonly<Record<string, unknown>>
  /** Receives the lines of warnings. */
  readonly onWarning?: (line: string) => void
}): Promise<DeepService> {
  const { nodeUrl, store, chain = {}, limits = {}, history = {}, deepHistory = {} } = options
  const { onWarning = () => undefined } = options
  const logger = createLogger({ level: 'warn', write: onWarning })
  const server = await createServer(
    {
      store,
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: { evm: [{ chainId: 31337, rpcUrls: [nodeUrl], pollIntervalMs: 50, ...chain }] },
      rateLimit: false,
      overload: false,
      limits: { requestDeadlineMs: 60_000, metadataWaitMs: 1, ...limits },
      history,
      deepHistory
    },
    { logger }
  )
  const status = () => server.status()[0]
  // A new index begins with the newest blocks, and older ones are added below them.
  const isWhole = () => {
    const { phase, indexedFrom = 0, startBlock = indexedFrom } = status() ?? {}
    return phase === 'following' && indexedFrom <= startBlock
  }
  await eventually('the index is level, and begins where it should', isWhole, 60_000)

  async function ask<T>(method: string, params: readonly unknown[]): Promise<Answer<T>> {
    const response = await server.fetch(
      new Request('http://service/evm-chain', {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId: 31337, params })
      })
    )
    const answer = (await response.json()) as Omit<Answer<T>, 'coverage'>
    return { ...answer, coverage: response.headers.get('x-chain-data-coverage') }
  }

  async function resultOf<T>(method: string, params: readonly unknown[]): Promise<T> {
    const { result, error } = await ask<T>(method, params)
    if (result === undefined) throw new Error(`${method} ${JSON.stringify(params)}: ${JSON.stringify(error)}`)
    return result
  }

  return {
    ask,
    async history(address, page) {
      const method = 'svc_getTransactionsByAddress'
      const records = await resultOf<TransactionRecord[]>(method, page ? [address, page] : [address])
      const problem = checkResult(method, records)
      if (problem !== undefined) throw new Error(`not as in the document: ${JSON.stringify(problem)}`)
      return records
    },
    async holdings(address) {
      const held = await resultOf<EvmHoldings>('svc_getTokensAndNFTs', [address])
      return {
        ...{ asOf: held.asOf, native: held.native, tokens: held.tokens },
        nfts: held.nfts.map(({ address: contract, tokenId, tokenBalance, isSemiFungible }) => ({
          ...{ contract, tokenId, tokenBalance, isSemiFungible }
        }))
      }
    },
    indexedFrom: () => status()?.indexedFrom ?? -1,
    close: () => server.close()
  }
}
