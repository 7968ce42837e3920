import { chainFigures } from './planChain.ts'
import type { RecordedBlock, Recording } from './recording.ts'

/** The bytes of one result, in pieces that exist already. */
type Result = readonly Buffer[]

/** What a node with the recorded chain answers. @returns `undefined`: it lacks the method. */
export type Answers = (method: string, params: readonly unknown[]) => Result | undefined

/** Of the head, as anvil has it. */
const tagDepths: Readonly<Record<string, number>> = { latest: 0, pending: 0, safe: 32, finalized: 64 }

const none: Result = [Buffer.from('null')]
const comma = Buffer.from(',')
const open = Buffer.from('[')
const close = Buffer.from(']')

interface FilterableLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly bytes: Buffer
}

interface LogFilter {
  readonly fromBlock?: string
  readonly toBlock?: string
  readonly blockHash?: string
  readonly address?: string | readonly string[]
  readonly topics?: readonly (string | readonly string[] | null)[]
}

/** Answers calls from a recorded chain without making anything but lists of buffers. */
export function createAnswers({ blocks }: Recording): Answers {
  const head = blocks.length - 1
  const byHash = new Map(blocks.map(block => [block.hash, block]))
  const logs = blocks.map(logsOf)
  const text = (value: string): Result => [Buffer.from(JSON.stringify(value))]
  const chainId = text(`0x${chainFigures.chainId.toString(16)}`)
  const headHeight = text(`0x${head.toString(16)}`)
  const netVersion = text(String(chainFigures.chainId))
  const client = text('recorded/1')
  const emptyPool: Result = [Buffer.from('{"pending":{},"queued":{}}')]

  const heightOf = (tag: unknown): number => {
    const name = String(tag)
    if (name === 'earliest') return 0
    const depth = tagDepths[name]
    return depth === undefined ? Number(name) : Math.max(0, head - depth)
  }
  const blockAt = (at: unknown): RecordedBlock | undefined => byHash.get(String(at)) ?? blocks[heightOf(at)]
  const body = (block: RecordedBlock | undefined, kind: 'full' | 'header' | 'receipts'): Result =>
    block === undefined ? none : [block[kind]]

  function findLogs(filter: LogFilter): Result {
    const one = filter.blockHash === undefined ? undefined : byHash.get(filter.blockHash)
    const from = one === undefined ? heightOf(filter.fromBlock ?? 'latest') : blocks.indexOf(one)
    const to = one === undefined ? heightOf(filter.toBlock ?? 'latest') : from
    const isWanted = wants(filter)
    const pieces: Buffer[] = []
    for (let number = from; number <= Math.min(to, head); number++) {
      for (const log of logs[number] ?? []) {
        if (isWanted(log)) pieces.push(pieces.length === 0 ? open : comma, log.bytes)
      }
    }
    return pieces.length === 0 ? [open, close] : [...pieces, close]
  }

  return (method, params) => {
    const [first, second] = params
    switch (method) {
      case 'eth_getBlockByNumber':
      case 'eth_getBlockByHash':
        return body(blockAt(first), second === true ? 'full' : 'header')
      case 'eth_getBlockReceipts':
        return body(blockAt(first), 'receipts')
      case 'eth_getLogs':
        return findLogs(first as LogFilter)
      case 'eth_blockNumber':
        return headHeight
      case 'eth_chainId':
        return chainId
      case 'net_version':
        return netVersion
      case 'web3_clientVersion':
        return client
      case 'txpool_content':
        return emptyPool
      default:
        return undefined
    }
  }
}

/** Each log of a block on its own, so that a filter costs no parsing when it is asked for. */
function logsOf({ logs }: RecordedBlock): readonly FilterableLog[] {
  const parsed = JSON.parse(logs.toString()) as readonly Omit<FilterableLog, 'bytes'>[]
  return parsed.map(log => ({
    address: log.address,
    topics: log.topics,
    bytes: Buffer.from(JSON.stringify(log))
  }))
}

function wants({ address, topics = [] }: LogFilter): (log: FilterableLog) => boolean {
  const addresses = address === undefined ? undefined : new Set([address].flat().map(a => a.toLowerCase()))
  return log =>
    (addresses === undefined || addresses.has(log.address)) &&
    topics.every((topic, place) => topic === null || [topic].flat().includes(log.topics[place] ?? ''))
}
