import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { quantity, type Raw, type RawBlock, rawBlock } from './rawBlock.ts'

/** A node that serves the blocks it was given, a genesis block, and nothing else. */
export interface ScriptedChain {
  readonly url: string
  /** The newest block's height. */
  readonly head: number
  close(): Promise<void>
}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/**
 * @param options.blockReceipts - whether it offers `eth_getBlockReceipts` or single receipts; a receipt comes from the last
 *   block that has it.
 * @param options.singleReceipts - that only `eth_getTransactionReceipt` gives.
 * @param options.prunedBelow - it has none of the blocks below but block 0.
 */
export async function startScriptedChain(
  given: readonly RawBlock[],
  {
    blockReceipts = true,
    chainId = 31_337,
    prunedBelow = 0,
    singleReceipts = []
  }: {
    readonly blockReceipts?: boolean
    readonly chainId?: number
    readonly prunedBelow?: number
    readonly singleReceipts?: readonly Raw[]
  } = {}
): Promise<ScriptedChain> {
  const isKept = ({ block }: RawBlock) => Number(block.number) === 0 || Number(block.number) >= prunedBelow
  const blocks = [rawBlock(0, []), ...given].filter(isKept)
  const head = Number(blocks.at(-1)?.block.number)

  function find(tag: unknown): RawBlock | undefined {
    if (tag === 'latest') return blocks.at(-1)
    return blocks.find(({ block }) => block.hash === tag || Number(block.number) === Number(tag))
  }

  function result({ method, params }: Call): unknown {
    const [first] = params
    if (method === 'eth_chainId') return quantity(chainId)
    if (method === 'eth_blockNumber') return quantity(head)
    if (method === 'eth_getBlockByNumber' || method === 'eth_getBlockByHash')
      return find(first)?.block ?? null
    if (method === 'eth_getBlockReceipts' && blockReceipts) return find(first)?.receipts ?? null
    if (method === 'eth_getTransactionReceipt') {
      const all = [...blocks.flatMap(({ receipts }) => receipts.filter(Boolean)), ...singleReceipts]
      return all.findLast(({ transactionHash }) => transactionHash === first) ?? null
    }
    return undefined
  }

  function answer(call: Call): object {
    const found = result(call)
    const { id } = call
    if (found !== undefined) return { jsonrpc: '2.0', id, result: found }
    return {
      jsonrpc: '2.0',
      id,
      error: { code: -32601, message: `the method ${call.method} does not exist` }
    }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[]
      const value = Array.isArray(body) ? body.map(answer) : answer(body)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    head,
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    }
  }
}
