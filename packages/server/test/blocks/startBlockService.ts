import { eventually, temporaryFolder } from '@chain-data/index/test'
import type { TransactionRecord } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import type { Waiver } from '../../src/model/waivableChecks.ts'
import { createLogger } from '../../src/platform/logger.ts'
import { createServer, type Server } from '../../src/server/start/createServer.ts'
import type { Raw, RawBlock } from './rawBlock.ts'
import { startScriptedChain } from './startScriptedChain.ts'

export interface BlockService {
  readonly server: Server
  readonly logLines: readonly string[]
  /** A history or a page of one; valid by the document. */
  history(address: string, page?: object): Promise<TransactionRecord[]>
  /** Calls any method; the answer with the header that says what it covers. */
  call(
    method: string,
    ...params: unknown[]
  ): Promise<{ readonly text: string; readonly coverage: string | null }>
  /** The same answer as it came. */
  historyText(address: string): Promise<string>
  /** Waits until this height is indexed and followed. */
  indexed(height: number): Promise<void>
  close(): Promise<void>
}

const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`

/** The whole server, with its indexer and store, over a node that serves these blocks. */
export async function startBlockService(
  blocks: readonly RawBlock[],
  {
    waivers = [],
    blockReceipts = true,
    serveWhileSyncing = false,
    prunedBelow = 0,
    singleReceipts = [],
    otherUrls = [],
    chain = {}
  }: {
    readonly waivers?: readonly Waiver[]
    readonly blockReceipts?: boolean
    readonly serveWhileSyncing?: boolean
    readonly prunedBelow?: number
    readonly singleReceipts?: readonly Raw[]
    /** Nodes of the same chain besides. */
    readonly otherUrls?: readonly string[]
    /** More of the chain's configuration. */
    readonly chain?: { readonly chainId?: number; readonly preset?: boolean; readonly startBlock?: number }
  } = {}
): Promise<BlockService> {
  const { chainId = 31_337 } = chain
  const node = await startScriptedChain(blocks, { blockReceipts, chainId, prunedBelow, singleReceipts })
  const folder = await temporaryFolder()
  const logLines: string[] = []
  const server = await createServer(
    {
      store: `sqlite:${folder.path}`,
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: {
        evm: [
          {
            ...chain,
            chainId,
            rpcUrls: [node.url, ...otherUrls],
            pollIntervalMs: 50,
            // The blocks are made up: their hashes are not those of their headers.
            verify: 'basic',
            waivers: waivers.map(one => ({ ...one }))
          }
        ]
      },
      history: { serveWhileSyncing },
      rateLimit: false,
      overload: false
    },
    { logger: createLogger({ level: 'debug', write: line => logLines.push(line) }) }
  )
  async function call(method: string, ...params: unknown[]) {
    const response = await server.fetch(
      new Request('http://service/evm-chain', {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          ...{ method, chainId, params }
        })
      })
    )
    return { text: await response.text(), coverage: response.headers.get('x-chain-data-coverage') }
  }
  async function historyText(address: string, page?: object): Promise<string> {
    const method = 'svc_getTransactionsByAddress'
    return (await (page === undefined ? call(method, address) : call(method, address, page))).text
  }
  return {
    server,
    logLines,
    call,
    historyText,
    async history(address, page) {
      const { result, error } = JSON.parse(await historyText(address, page)) as {
        result?: unknown
        error?: unknown
      }
      if (error !== undefined) throw new Error(`refused: ${JSON.stringify(error)}`)
      const problem = checkResult('svc_getTransactionsByAddress', result)
      if (problem !== undefined) throw new Error(`not as in the document: ${JSON.stringify(problem)}`)
      return result as TransactionRecord[]
    },
    async indexed(height) {
      await eventually(`block ${height} is indexed`, () => {
        const [status] = server.status()
        return status?.phase === 'following' && status.indexedTo?.number === height
      })
    },
    async close() {
      await server.close()
      await node.close()
      await folder.remove()
    }
  }
}
