import { Refusal } from '../../support/startFaultProxy.ts'
import { hex, type RecordedReader } from './readRecorded.ts'
import type { Json } from './recordBlocks.ts'
import { partiesOf, type Trace } from './recordBlocks.ts'

/** What a node offers and how it errs, besides what it has. */
export interface NodeTraits {
  /** Lists the transactions of an address page by page; default true. */
  readonly hasOts?: boolean
  /** Lists the calls of an address in ranges of so many blocks; false: not at all; default without a bound. */
  readonly traceFilter?: number | false
  /** Finds a transaction by sender and nonce; default false. */
  readonly hasSenderAndNonce?: boolean
  /** Gives the traces of a block; default true. */
  readonly hasTraces?: boolean
  /** Gives the state of only so many newest blocks; default all. */
  readonly keptStates?: number
  /** Transactions that the index of addresses, by pages or by calls, leaves out. */
  readonly leftOut?: ReadonlySet<string>
  /** An account that every block from a height on pays by a withdrawal, of one gwei. */
  readonly withdrawals?: { readonly address: string; readonly from: number }
  /** Chooses the height that a call of state is answered from; default the one that it names. */
  readonly staleHeight?: (height: number) => number
}

type Params = readonly unknown[]

const missing = (method: string) =>
  new Refusal(-32601, `the method ${method} does not exist/is not available`)
const gwei = 1_000_000_000n

/** Answers one call as a node with these traits does. @throws {Refusal} */
export function answerCall(
  chain: RecordedReader,
  traits: NodeTraits,
  method: string,
  params: Params
): unknown {
  const { hasOts = true, traceFilter, hasSenderAndNonce = false, hasTraces = true, leftOut } = traits
  const isNamed = (hash: unknown) => leftOut?.has(String(hash)) !== true
  switch (method) {
    case 'eth_chainId':
      return '0x7a69'
    case 'net_version':
      return '31337'
    case 'web3_clientVersion':
      return 'recorded/1.0'
    case 'eth_syncing':
      return false
    case 'eth_blockNumber':
      return hex(chain.head)
    case 'eth_getBlockByNumber': {
      const height = heightOf(chain, params[0])
      return height > chain.head ? null : withWithdrawals(chain.block(height, params[1] === true), traits)
    }
    case 'eth_getBlockByHash': {
      const height = heightOf(chain, { blockHash: params[0] })
      return height > chain.head ? null : withWithdrawals(chain.block(height, params[1] === true), traits)
    }
    case 'eth_getBlockReceipts':
      return chain.receipts(heightOf(chain, params[0]))
    case 'trace_block':
      if (!hasTraces) throw missing(method)
      return chain.traces(heightOf(chain, params[0]))
    case 'eth_getTransactionByHash':
    case 'eth_getTransactionReceipt': {
      const place = chain.place(String(params[0]))
      if (place === undefined) return null
      if (method === 'eth_getTransactionReceipt') return chain.receipts(place.height)[place.index]
      return transactionsOf(chain, place.height)[place.index]
    }
    case 'eth_getTransactionBySenderAndNonce': {
      if (!hasSenderAndNonce) throw missing(method)
      const sender = String(params[0]).toLowerCase()
      const isIt = ({ from, nonce }: Json) => from === sender && Number(nonce) === Number(params[1])
      return (
        chain
          .heightsOf(sender)
          .flatMap(height => transactionsOf(chain, height))
          .find(isIt) ?? null
      )
    }
    case 'eth_getBalance':
    case 'eth_getTransactionCount':
    case 'eth_getCode':
      return answerState(chain, traits, method, params)
    case 'eth_getLogs':
      return answerLogs(chain, params[0] as Json)
    case 'trace_filter': {
      if (traceFilter === false) throw missing(method)
      const { from, to } = rangeOf(chain, params[0] as Json)
      if (traceFilter !== undefined && to - from >= traceFilter)
        throw new Refusal(-32602, `block range too large, currently limited to ${traceFilter}`)
      return answerTraceFilter(chain, params[0] as Json).filter(({ transactionHash }) =>
        isNamed(transactionHash)
      )
    }
    case 'ots_searchTransactionsBefore':
      if (!hasOts) throw missing(method)
      return answerOts(chain, params, isNamed)
    case 'txpool_content':
      return { pending: {}, queued: {} }
    default:
      throw missing(method)
  }
}

function heightOf(chain: RecordedReader, at: unknown): number {
  if (at === 'latest' || at === 'pending' || at === undefined) return chain.head
  if (at === 'safe') return chain.head - 32
  if (at === 'finalized') return chain.head - 64
  if (at === 'earliest') return 0
  if (typeof at === 'string' && at.length < 66) return Number(at)
  const { blockHash = at, blockNumber } = at as Json
  if (blockNumber !== undefined) return Number(blockNumber)
  return chain.heightWithHash(String(blockHash)) ?? Number.POSITIVE_INFINITY
}

const transactionsOf = (chain: RecordedReader, height: number) =>
  chain.block(height, true).transactions as readonly Json[]

function withWithdrawals(block: Json, { withdrawals }: NodeTraits): Json {
  if (withdrawals === undefined || Number(block.number) < withdrawals.from) return block
  const { address } = withdrawals
  const index = hex(Number(block.number))
  return {
    ...block,
    withdrawalsRoot: `0x${'0a'.repeat(32)}`,
    withdrawals: [{ index, validatorIndex: '0x1', address, amount: '0x1' }]
  }
}

function answerState(chain: RecordedReader, traits: NodeTraits, method: string, params: Params): unknown {
  const {
    keptStates = Number.POSITIVE_INFINITY,
    withdrawals,
    staleHeight = (height: number) => height
  } = traits
  const named = heightOf(chain, params[1])
  if (named > chain.head) throw new Refusal(-32000, 'header not found')
  if (chain.head - named >= keptStates)
    throw new Refusal(-32000, `missing trie node 1f2e3d (path ) state 0x1f2e3d is not available`)
  const height = staleHeight(named)
  const address = String(params[0]).toLowerCase()
  const { nonce, balance, code } = chain.state(address, height)
  if (method === 'eth_getTransactionCount') return hex(nonce)
  if (method === 'eth_getCode') return code
  const isPaid = withdrawals?.address === address
  return hex(balance + (isPaid ? BigInt(Math.max(0, height - withdrawals.from + 1)) * gwei : 0n))
}

function rangeOf(chain: RecordedReader, { fromBlock, toBlock, blockHash }: Json) {
  const named = (at: unknown) => heightOf(chain, blockHash === undefined ? at : { blockHash })
  return { from: named(fromBlock), to: Math.min(chain.head, named(toBlock)) }
}

const lower = (list: unknown) =>
  list === undefined || list === null
    ? undefined
    : new Set([list].flat().map(entry => String(entry).toLowerCase()))

function answerLogs(chain: RecordedReader, filter: Json): readonly Json[] {
  const { from, to } = rangeOf(chain, filter)
  const contracts = lower(filter.address)
  const topics = ((filter.topics ?? []) as unknown[]).map(lower)
  const isWanted = (log: Json) =>
    contracts?.has(String(log.address).toLowerCase()) !== false &&
    topics.every((wanted, place) => wanted?.has(String((log.topics as string[])[place])) !== false)
  return chain
    .heights(from, to)
    .flatMap(height => chain.receipts(height).flatMap(({ logs }) => logs as Json[]))
    .filter(isWanted)
}

function answerTraceFilter(chain: RecordedReader, filter: Json): readonly Json[] {
  const { from, to } = rangeOf(chain, filter)
  const [senders, receivers] = [lower(filter.fromAddress), lower(filter.toAddress)]
  const named = [...(senders ?? []), ...(receivers ?? [])]
  const heights = [...new Set(named.flatMap(address => chain.heightsOf(address)))].sort((a, b) => a - b)
  return heights
    .filter(height => height >= from && height <= to)
    .flatMap(height => chain.traces(height))
    .filter(trace => {
      const { action, result } = trace as Trace
      const { from: sender, to: receiver, address, refundAddress } = action
      const isSide = (side: ReadonlySet<string> | undefined, ...parties: unknown[]) =>
        side === undefined || parties.some(party => side.has(String(party)))
      return isSide(senders, sender, address) && isSide(receivers, receiver, refundAddress, result?.address)
    })
}

/** Whole blocks, newest first, until a page is full. */
function answerOts(chain: RecordedReader, params: Params, isNamed: (hash: unknown) => boolean): unknown {
  const address = String(params[0]).toLowerCase()
  const before = Number(params[1]) || chain.head + 1
  const [txs, receipts]: [Json[], Json[]] = [[], []]
  const heights = chain.heightsOf(address).filter(height => height < before)
  while (heights.length > 0 && txs.length < Number(params[2])) {
    const height = heights.pop() ?? 0
    const traces = chain.traces(height) as readonly Trace[]
    for (const transaction of [...transactionsOf(chain, height)].reverse()) {
      const ofIt = traces.filter(({ transactionHash }) => transactionHash === transaction.hash)
      const parties = [transaction.from, transaction.to, ...ofIt.flatMap(partiesOf)]
      if (!parties.includes(address) || !isNamed(transaction.hash)) continue
      txs.push(transaction)
      receipts.push(chain.receipts(height)[Number(transaction.transactionIndex)] as Json)
    }
  }
  return { txs, receipts, firstPage: before > chain.head, lastPage: heights.length === 0 }
}
