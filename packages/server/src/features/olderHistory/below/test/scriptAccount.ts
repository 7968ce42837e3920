import type { AccountEvent, Address, ConfirmedTransaction, IndexedTransaction } from '@chain-data/index'
import { type BlockRows, encodeBlock } from '@chain-data/index/record'
import { hashOf } from '@chain-data/index/test'
import type { NodeCall, NodeOutcome } from '../../../../nodes/evm/nodeCall.ts'
import { toQuantity } from '../../../../nodes/evm/rawFields.ts'
import { NodeRpcError } from '../../../../platform/errors.ts'

export const account: Address = `0x${'ac'.repeat(20)}`
const other: Address = `0x${'0b'.repeat(20)}`

/** What happens to the account in one block. */
export interface Deed {
  readonly height: number
  /**
   * - `sends`: a transaction of its own; `fails`: one whose value is not moved. `receives`: one of somebody else's.
   * - `internal`: a contract pays it, which only traces show. `withdraws`: the block pays it.
   * - `authorizes`: another account's transaction carries its authorization. `creates`: a nonce is used by nothing that shows.
   * - `loses`: wei are gone in no way that shows.
   */
  readonly kind:
    | 'sends'
    | 'fails'
    | 'receives'
    | 'internal'
    | 'withdraws'
    | 'authorizes'
    | 'creates'
    | 'loses'
  readonly value?: bigint
}

const fee = 21_000n * 7n

/** One account of a chain that nobody else does anything on, and a node with the state of all of its blocks. */
export function scriptAccount(
  deeds: readonly Deed[],
  { isTraced = false, code = () => '0x' }: { isTraced?: boolean; code?: (height: number) => string } = {}
) {
  const sorted = [...deeds].sort((a, b) => a.height - b.height)
  const heights: number[] = []
  const states: { nonce: bigint; balance: bigint }[] = []
  const blocks = new Map<number, { transactions: IndexedTransaction[]; events: AccountEvent[] }>()
  let [nonce, balance] = [0n, 10n ** 24n]
  for (const { height, kind, value = 5n } of sorted) {
    const block = blocks.get(height) ?? { transactions: [], events: [] }
    blocks.set(height, block)
    const isOwn = kind === 'sends' || kind === 'fails'
    const index = block.transactions.length
    const add = (from: Address, to: Address, parts: Partial<ConfirmedTransaction> = {}, details = {}) => {
      const hash = hashOf(`${height} ${index}`)
      const transaction: ConfirmedTransaction = {
        ...{ hash, from, to, value, data: '0x', gasLimit: 21_000n, nonce: isOwn ? nonce : 0n, type: 0 },
        ...{ blockNumber: height, index, timestampSeconds: 1_600_000_000 + height },
        ...{ status: 3, gasPrice: 7n, gasSpent: 21_000n, feeWei: fee, ...parts }
      }
      const parties = [
        ...new Set([
          from,
          to,
          ...(kind === 'authorizes' || (isTraced && kind === 'internal') ? [account] : [])
        ])
      ]
      block.transactions.push({
        transaction,
        parties,
        candidates: [],
        ...(isTraced && { internal: [], ...details })
      })
    }
    if (isOwn) add(account, other, kind === 'fails' ? { status: 4 } : {})
    if (kind === 'receives') add(other, account)
    if (kind === 'internal')
      add(other, other, {}, { internal: [{ kind: 'call', from: other, to: account, value }] })
    if (kind === 'authorizes') {
      add(other, other, { type: 4 })
      block.events.push({ kind: 'authorization', nonce })
    }
    if (kind === 'withdraws') block.events.push({ kind: 'withdrawal', amount: value })
    if (isOwn) balance -= fee + (kind === 'sends' ? value : 0n)
    if (['receives', 'internal', 'withdraws'].includes(kind)) balance += value
    if (kind === 'loses') balance -= value
    if (isOwn || kind === 'authorizes' || kind === 'creates') nonce++
    if (heights.at(-1) !== height) {
      heights.push(height)
      states.push({ nonce, balance })
    } else states[states.length - 1] = { nonce, balance }
  }
  const stateAt = (height: number) => {
    let [low, high] = [0, heights.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((heights[middle] ?? 0) <= height) low = middle + 1
      else high = middle
    }
    return states[low - 1] ?? { nonce: 0n, balance: 10n ** 24n }
  }
  const nonceBlock = (wanted: bigint) =>
    heights.find((_, position) => (states[position]?.nonce ?? 0n) > wanted)
  const isSender = (height: number, wanted: bigint) =>
    blocks
      .get(height)
      ?.transactions.some(({ transaction: { from, nonce } }) => from === account && nonce === wanted)

  function answer({ method, params: [, at] }: NodeCall): unknown {
    if (method === 'eth_getTransactionCount') return `0x${stateAt(Number(at)).nonce.toString(16)}`
    if (method === 'eth_getBalance') return `0x${stateAt(Number(at)).balance.toString(16)}`
    if (method === 'eth_getCode') return code(Number(at))
    if (method === 'eth_getTransactionBySenderAndNonce') {
      const height = nonceBlock(BigInt(String(at)))
      return height !== undefined && isSender(height, BigInt(String(at)))
        ? { blockNumber: toQuantity(height) }
        : null
    }
    throw new NodeRpcError(`${method}: not there`, -32601, undefined)
  }

  return {
    answer,
    /** Answers as they would be of another height, now and then. */
    stale: (share: number, random: () => number, height: number) => (call: NodeCall) =>
      call.params.length === 2 && /^eth_get(Bal|TransactionCo)/.test(call.method) && random() < share
        ? answer({ ...call, params: [call.params[0], toQuantity(Math.floor(random() * height))] })
        : answer(call),
    async block(number: number): Promise<BlockRows> {
      const { transactions = [], events = [] } = blocks.get(number) ?? {}
      const ref = { number, hash: hashOf(`block ${number}`) }
      return encodeBlock({
        ...{ ref, parentHash: hashOf(`block ${number - 1}`), timestampSeconds: 1, transactions, isTraced },
        events: events.length > 0 ? [{ address: account, events }] : []
      })
    },
    /** Heights of the blocks with a record of the account, newest first. */
    expected: () =>
      [...new Set(sorted.filter(({ kind }) => shows(kind, isTraced)).map(({ height }) => height))].reverse()
  }
}

function shows(kind: Deed['kind'], isTraced: boolean): boolean {
  return ['sends', 'fails', 'receives', 'authorizes'].includes(kind) || (isTraced && kind === 'internal')
}

/** Calls in batches on such a node, counted. */
export function scriptRpc(answer: (call: NodeCall) => unknown) {
  const rpc = {
    calls: 0,
    async batch(calls: readonly NodeCall[]): Promise<readonly NodeOutcome[]> {
      rpc.calls += calls.length
      return calls.map(call => {
        try {
          return { ok: true, value: answer(call) }
        } catch (error) {
          if (error instanceof NodeRpcError) return { ok: false, error }
          throw error
        }
      })
    }
  }
  return rpc
}
