import type { Address, Hash, IndexedBlock } from '@chain-data/index'
import type { SimulatedChain } from './simulatedChain.ts'
import type { SimulatedNode } from './simulatedNode.ts'

/** A record as the history method writes it, as far as it is checked. */
export interface ToldRecord {
  readonly hash: Hash
  /** 0 and 1: pending. */
  readonly status: number
  readonly timestamp: number
  readonly blockNumber?: number
}

/** A question for a history or a page of one, and what was told. Times are virtual. */
export interface Told {
  readonly address: Address
  readonly limit?: number
  readonly before?: Hash
  readonly askedMs: number
  readonly toldMs: number
  /** When the pool was seen last, as the status says; absent: unknown. */
  readonly poolSeenMs?: number
  readonly answer:
    | {
        readonly kind: 'records'
        readonly records: readonly ToldRecord[]
        /** Blocks that the answer covers. */
        readonly from: number
        readonly to: number | undefined
      }
    | {
        readonly kind: 'refused'
        readonly reason: string
        readonly lastCommonBlock?: { readonly blockNumber: number; readonly blockHash: string }
      }
}

export interface AnswerChecker {
  /** @returns what is wrong; absent: the answer may be so. */
  check(told: Told): string | undefined
  /** The store has lost commits: what callers were told may be unknown to it for a while. */
  lostCommits(): void
  /** Transactions that callers were shown as confirmed. */
  readonly confirmed: ReadonlySet<Hash>
}

/** A poll of the pool takes no longer, over a slow disk too. */
const pollMs = 6_000

/**
 * Knows what each answer may be, from everything that the chain ever was and what callers were told before.
 *
 * @param options.staleMs - age of the newest indexed block's last moment as the head, in an answer that shows the newest state.
 */
export function createAnswerChecker(
  chain: SimulatedChain,
  { node, staleMs }: { readonly node: Pick<SimulatedNode, 'oldestShownMs'>; readonly staleMs: number }
): AnswerChecker {
  /** When each transaction was first shown to a caller, to whomever. */
  const shownMs = new Map<Hash, number>()
  const confirmed = new Set<Hash>()
  let mayHaveForgotten = false
  let hasAnswered = false

  function check(told: Told): string | undefined {
    const { answer } = told
    if (answer.kind === 'refused') return checkRefusal(told, answer)
    const problem = told.before === undefined ? checkNewest(told, answer) : checkPage(told, answer)
    if (problem !== undefined) return problem
    hasAnswered = true
    for (const { hash, status } of answer.records) {
      if (!shownMs.has(hash)) shownMs.set(hash, told.toldMs)
      if (status > 1) confirmed.add(hash)
    }
    return undefined
  }

  function checkNewest(
    { address, limit = Number.POSITIVE_INFINITY, askedMs, poolSeenMs = 0 }: Told,
    { records, from: first, to }: Extract<Told['answer'], { kind: 'records' }>
  ): string | undefined {
    const hashes = new Set(records.map(({ hash }) => hash))
    if (hashes.size < records.length) return 'a transaction is there twice'
    const pending = records.filter(({ status }) => status < 2)
    const mined = records.slice(pending.length)
    if (mined.some(({ status }) => status < 2)) return 'a pending transaction comes after a confirmed one'
    const fits = tipsAt(to).filter(tip => isNewestPart(mined, tip, first, address, limit - pending.length))
    if (fits.length === 0)
      return `no chain of ${to} blocks from ${first} on explains the confirmed transactions`
    const current = fits.filter(tip => chain.lastNewestMs(tip.ref.hash) >= askedMs - staleMs)
    if (current.length === 0) return `block ${to} was outdated for more than ${staleMs} ms`
    for (const { hash } of pending) {
      const lastMs = chain.lastPendingMs(hash)
      if (lastMs === undefined) return `${hash} was never pending`
      if (lastMs < askedMs - staleMs) return `${hash} has long left the pool`
    }
    // A node that lags may show a pool from before the first indexed block.
    if (!current.some(tip => pending.every(({ hash }) => !isIn(tip, hash, first)))) {
      return 'a pending transaction is confirmed in the same chain'
    }
    if (records.length >= limit) return undefined
    const oldestMs = node.oldestShownMs(askedMs - staleMs)
    const { blocks, pool } = chain.now()
    const covered = blocks.slice(first).flatMap(each => each.transactions.map(one => one.transaction))
    const sent = [...pool, ...covered]
    for (const { hash, from, to } of sent) {
      if (hashes.has(hash) || (from !== address && to !== address)) continue
      // The chain of the answer has it below the first indexed block; since then, a reorg has moved it.
      if (current.some(tip => isIn(tip, hash, 0, first))) continue
      // A node that lags may show a state in which it was not there yet.
      const knownMs = Math.max(shownMs.get(hash) ?? 0, poolSeenMs - pollMs)
      const aliveMs = chain.aliveSinceMs(hash) ?? Number.POSITIVE_INFINITY
      if (aliveMs <= Math.min(knownMs, askedMs, oldestMs)) return `${hash} is missing, and has not gone`
    }
    return undefined
  }

  function checkPage(
    { address, limit = Number.POSITIVE_INFINITY, before }: Told,
    { records, from, to }: Extract<Told['answer'], { kind: 'records' }>
  ): string | undefined {
    for (const tip of tipsAt(to)) {
      const all = historyIn(tip, from, address)
      const path = chain.upTo(tip.ref.hash) ?? []
      const at = positionIn(path, before)
      if (at === undefined) continue
      const older = all.filter(
        each =>
          each.blockNumber < at.blockNumber || (each.blockNumber === at.blockNumber && each.index < at.index)
      )
      if (isSame(records, older.slice(0, limit))) return undefined
    }
    return `no chain of ${to} blocks explains the page after ${before}`
  }

  function checkRefusal(
    { before }: Told,
    { reason, lastCommonBlock }: Extract<Told['answer'], { kind: 'refused' }>
  ): string | undefined {
    if (reason === 'NOT_SYNCED' && hasAnswered && !mayHaveForgotten) {
      return 'a chain that was answered is being backfilled again'
    }
    if (reason === 'INVALID_PARAMS' && before !== undefined && confirmed.has(before) && !mayHaveForgotten) {
      return `${before} was shown as confirmed, and is unknown`
    }
    if (reason !== 'CURSOR_REORGED' || before === undefined || lastCommonBlock === undefined) return undefined
    const { blockNumber, blockHash } = lastCommonBlock
    const had = chain.states.some(({ blocks }) => {
      const at = positionIn(blocks, before)
      return at !== undefined && at.blockNumber > blockNumber && blocks[blockNumber]?.ref.hash === blockHash
    })
    return had ? undefined : `block ${blockNumber} is not the last one in common with that of ${before}`
  }

  const tipsAt = (to: number | undefined) => (to === undefined ? [] : chain.everAt(to))

  function isIn(tip: IndexedBlock, hash: Hash, from: number, end?: number): boolean {
    return positionIn((chain.upTo(tip.ref.hash) ?? []).slice(from, end), hash) !== undefined
  }

  function historyIn(tip: IndexedBlock, from: number, address: Address) {
    return (chain.upTo(tip.ref.hash) ?? [])
      .slice(from)
      .flatMap(({ transactions }) => transactions)
      .filter(({ parties }) => parties.includes(address))
      .map(({ transaction }) => transaction)
      .reverse()
  }

  function isNewestPart(
    records: readonly ToldRecord[],
    tip: IndexedBlock,
    from: number,
    address: Address,
    limit: number
  ): boolean {
    return isSame(records, historyIn(tip, from, address).slice(0, Math.max(0, limit)))
  }

  return {
    check,
    lostCommits() {
      mayHaveForgotten = true
    },
    confirmed
  }
}

function positionIn(blocks: readonly IndexedBlock[], hash: Hash | undefined) {
  for (const { transactions } of blocks) {
    const found = transactions.find(({ transaction }) => transaction.hash === hash)
    if (found !== undefined) return found.transaction
  }
  return undefined
}

function isSame(
  records: readonly ToldRecord[],
  expected: readonly {
    readonly hash: Hash
    readonly status?: number
    readonly timestampSeconds: number
    readonly blockNumber: number
  }[]
): boolean {
  return (
    records.length === expected.length &&
    records.every(({ hash, status, timestamp, blockNumber }, at) => {
      const other = expected[at]
      return (
        hash === other?.hash &&
        status === other.status &&
        timestamp === other.timestampSeconds &&
        blockNumber === other.blockNumber
      )
    })
  )
}
