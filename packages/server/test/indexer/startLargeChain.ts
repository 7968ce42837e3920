import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { address, blockHash, quantity, rawBlock } from '../blocks/rawBlock.ts'

/** A node that makes large blocks up as they are asked for, quickly and always the same. */
export interface LargeChain {
  readonly url: string
  head(): number
  /** Hash of the newest block's first transaction, which is the account's. */
  newestHash(): string
  /** Adds a block. */
  grow(): void
  /** From now on calls are taken and not answered, or all of them are again. */
  hang(isHanging: boolean): void
  /** Replaces the newest blocks by as many others and one more. */
  reorganise(depth: number): void
  close(): Promise<void>
}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')
/** Stands in a template for the beginning of a transaction's hash. */
const placeholder = 'f0'.repeat(8)

/**
 * @param options.transactions - in each of the first blocks; later ones have two.
 * @param options.account - receiver of the first transaction of every block.
 */
export async function startLargeChain(options: {
  readonly blocks: number
  readonly transactions: number
  readonly account: string
}): Promise<LargeChain> {
  const { blocks, account } = options
  /** The branch of each block, by height. */
  const branches = Array.from({ length: blocks + 1 }, () => 0)
  const templates = new Map<number, { readonly block: string; readonly receipts: string }>()

  function templateOf(transactions: number) {
    const known = templates.get(transactions)
    if (known !== undefined) return known
    const parts = Array.from({ length: transactions }, (_, index) => ({
      transaction: {
        hash: `0x${placeholder}${hex(index, 48)}`,
        from: address(1_000 + (index % 50)),
        to: index === 0 ? account : address(2_000 + (index % 500))
      },
      receipt: {
        from: address(1_000 + (index % 50)),
        to: index === 0 ? account : address(2_000 + (index % 500))
      }
    }))
    const { block, receipts } = rawBlock(1, parts, { timestamp: quantity(1_700_000_001) })
    const made = { block: JSON.stringify(block), receipts: JSON.stringify(receipts) }
    templates.set(transactions, made)
    return made
  }

  const prefix = (height: number) => hex(height, 8) + hex(branches[height] ?? 0, 8)
  const hashOf = (height: number) => `0x${'b'.repeat(48)}${prefix(height)}`

  function place(text: string, height: number): string {
    return text
      .replaceAll(blockHash(1), hashOf(height))
      .replaceAll(blockHash(0), height === 0 ? `0x${'00'.repeat(32)}` : hashOf(height - 1))
      .replaceAll('umber":"0x1"', `umber":"${quantity(height)}"`)
      .replace(quantity(1_700_000_001), quantity(1_700_000_000 + height))
      .replaceAll(placeholder, prefix(height))
  }

  function find(tag: unknown): number | undefined {
    if (tag === 'latest') return branches.length - 1
    const height =
      typeof tag === 'string' && tag.length === 66 ? Number(`0x${tag.slice(50, 58)}`) : Number(tag)
    if (!Number.isInteger(height) || height >= branches.length) return undefined
    return typeof tag === 'string' && tag.length === 66 && tag !== hashOf(height) ? undefined : height
  }

  function result({ method, params }: Call): string | undefined {
    if (method === 'eth_chainId') return '"0x7a69"'
    const height = find(params[0])
    const template = templateOf(height === 0 ? 0 : (height ?? 0) > blocks ? 2 : options.transactions)
    if (method === 'eth_getBlockByNumber' || method === 'eth_getBlockByHash') {
      if (height === undefined) return 'null'
      // Of a head only its header is asked for.
      return place(params[1] === true ? template.block : templateOf(0).block, height)
    }
    if (method === 'eth_getBlockReceipts')
      return height === undefined ? 'null' : place(template.receipts, height)
    return undefined
  }

  const answer = (call: Call) => {
    const found = result(call)
    const rest =
      found === undefined
        ? `"error":{"code":-32601,"message":"the method ${call.method} does not exist"}`
        : `"result":${found}`
    return `{"jsonrpc":"2.0","id":${JSON.stringify(call.id)},${rest}}`
  }
  let isHanging = false
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[]
      const text = Array.isArray(body) ? `[${body.map(answer).join(',')}]` : answer(body)
      if (!isHanging) response.writeHead(200, { 'content-type': 'application/json' }).end(text)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  let branch = 0
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    head: () => branches.length - 1,
    newestHash: () => `0x${prefix(branches.length - 1)}${hex(0, 48)}`,
    grow: () => void branches.push(branch),
    hang(hanging) {
      isHanging = hanging
    },
    reorganise(depth) {
      branch++
      branches.splice(-depth, depth, ...Array.from({ length: depth + 1 }, () => branch))
    },
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    }
  }
}
