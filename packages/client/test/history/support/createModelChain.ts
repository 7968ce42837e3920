import { RpcError, type TransactionRecord } from '../../../src/fetch.ts'
import type { HistoryClient } from '../../../src/history/index.ts'

/** Depth at which the model's blocks are final. */
const finalDepth = 4

/** What becomes of the transactions of a block that a reorg removes, one after the other, in turn. */
export type Fate = 'pool' | 'gone' | 'mined again'

interface Sent {
  readonly hash: string
  readonly nonce: number
}

/** One step of a chain. */
export type ChainStep =
  | { readonly kind: 'send' | 'mine'; readonly count: number }
  | { readonly kind: 'drop' | 'replace' | 'return' }
  | { readonly kind: 'reorg'; readonly depth: number; readonly fates: readonly Fate[] }

/** A chain with one account, and the service's answers about it. It remembers every history it ever had. */
export function createModelChain() {
  let made = 0
  let pool: Sent[] = []
  const lost: Sent[] = []
  let blocks: Sent[][] = [[]]
  let finalized = 0
  /** Last common block of each reorg that removed a transaction from a block. */
  const removed = new Map<string, number>()

  const create = (): Sent => ({ hash: `0x${++made}`, nonce: made })
  const createMany = (count: number) => Array.from({ length: count }, create)
  const confirmed = () => blocks.flatMap((sent, block) => sent.map(each => toRecord(each, block))).reverse()
  const pending = () => pool.toSorted((a, b) => b.nonce - a.nonce).map(each => toRecord(each))
  const history = () => [...pending(), ...confirmed()]
  const versions: TransactionRecord[][] = [history()]
  const listeners = new Set<() => void>()

  const step =
    <Args extends readonly unknown[]>(act: (...args: Args) => unknown) =>
    (...args: Args) => {
      act(...args)
      versions.push(history())
      for (const listener of [...listeners]) listener()
    }

  function reorgFrom(lowest: number, fates: readonly Fate[]) {
    const undone = blocks.slice(lowest)
    blocks = blocks.slice(0, lowest)
    for (const [hash, block] of removed) removed.set(hash, Math.min(block, lowest - 1))
    let turn = 0
    const again: Sent[][] = undone.map(() => [])
    for (const sent of undone.flat()) {
      removed.set(sent.hash, lowest - 1)
      const fate = fates[turn++ % fates.length]
      if (fate === 'pool') pool.push(sent)
      else if (fate === 'gone') lost.push(sent)
      else again[turn % again.length]?.push(sent)
    }
    blocks.push(...again)
  }

  function answer(limit: number | undefined, before: string | undefined): TransactionRecord[] {
    const all = confirmed()
    const from = before === undefined ? 0 : all.findIndex(({ hash }) => hash === before) + 1
    if (before !== undefined && from === 0) throw cursorReorged(removed.get(before) ?? 0)
    return [...(before === undefined ? pending() : []), ...all.slice(from)].slice(0, limit)
  }

  return {
    send: step((count: number) => pool.push(...createMany(count))),
    drop: step(() => pool.pop()),
    /** Another transaction of the same nonce takes the place of the newest one in the pool. */
    replace: step(() => {
      const last = pool.pop()
      if (last !== undefined) pool.push({ ...create(), nonce: last.nonce })
    }),
    /** A block with what is in the pool and as many new transactions. */
    mine: step((count: number) => {
      blocks.push([...pool.toSorted((a, b) => a.nonce - b.nonce), ...createMany(count)])
      pool = []
    }),
    reorg: step((depth: number, fates: readonly Fate[]) =>
      reorgFrom(Math.max(blocks.length - depth, finalized + 1, 1), fates)
    ),
    /** Replaces blocks from one on, also those that were reported as final. */
    breakFinality: step(reorgFrom),
    /** Brings what a reorg has thrown away back into the pool. */
    returnLost: step(() => pool.push(...lost.splice(0))),
    history,
    /** Every history there was, the oldest first. */
    versions: versions as readonly (readonly TransactionRecord[])[],
    /** Are called after each step. */
    listeners,
    finalized: () => {
      finalized = Math.max(finalized, blocks.length - 1 - finalDepth)
      return finalized
    },
    head: () => blocks.length - 1,
    /** A page of the service. @throws {RpcError} `CURSOR_REORGED` */
    answer
  }
}

export type ModelChain = ReturnType<typeof createModelChain>

/** Lets a chain take one step. */
export function takeStep(chain: ModelChain, step: ChainStep): void {
  if (step.kind === 'send' || step.kind === 'mine') chain[step.kind](step.count)
  else if (step.kind === 'reorg') chain.reorg(step.depth, step.fates)
  else if (step.kind === 'return') chain.returnLost()
  else chain[step.kind]()
}

/**
 * A client of a service over the chain. It counts its calls.
 *
 * @param meanwhile - Runs before each answer; what it throws, the call rejects with.
 * @param latencyMs - How long an answer takes to arrive.
 */
export function createModelClient(
  chain: ModelChain,
  meanwhile: (method: string) => unknown = () => {},
  latencyMs = () => 0
) {
  const calls: { readonly method: string; readonly limit?: number; readonly before?: string }[] = []
  const client: HistoryClient = {
    async getTransactionsByAddress({ limit, before, onAnswer, signal }) {
      calls.push({ method: 'history', ...(limit && { limit }), ...(before && { before }) })
      await meanwhile('history')
      if (signal?.aborted) throw rpcError('ABORTED')
      const records = chain.answer(limit, before)
      const headers: Record<string, string> = {
        'x-chain-data-coverage': `1;from=0;to=${chain.head()}`,
        ...(before === undefined && { 'x-chain-data-cursor': `${chain.versions.length - 1}` })
      }
      await wait(latencyMs())
      onAnswer?.({ status: 200, attempts: 1, text: '', header: name => headers[name] })
      return records
    },
    async getSyncStatus() {
      calls.push({ method: 'status' })
      await meanwhile('status')
      const finalized = chain.finalized()
      await wait(latencyMs())
      return { chainId: 1, finalized } as never
    }
  }
  return { client, calls }
}

async function wait(ms: number): Promise<void> {
  if (ms > 0) await new Promise(resolve => setTimeout(resolve, ms))
}

/** An error of the service's table. */
export function rpcError(reason: string, details: object = {}): RpcError {
  return new RpcError(reason, { code: 'RPC', reason, ...details })
}

function cursorReorged(blockNumber: number): RpcError {
  return rpcError('CURSOR_REORGED', { data: { lastCommonBlock: { blockNumber, blockHash: '0x' } } })
}

function toRecord({ hash, nonce }: Sent, blockNumber?: number): TransactionRecord {
  const common = { hash, from: '0xa', to: '0xb', value: '0x1', data: '0x', gasLimit: 1, nonce, type: 0 }
  if (blockNumber === undefined) return { ...common, timestamp: 1, status: 1 } as TransactionRecord
  return {
    ...{ ...common, timestamp: blockNumber, status: 3, blockNumber },
    ...{ gasSpent: '0x1', gasPrice: '0x1', fees: '0x1' }
  } as TransactionRecord
}
