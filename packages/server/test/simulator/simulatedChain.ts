import type {
  AccountEvents,
  Address,
  Hash,
  HoldingCandidate,
  IndexedBlock,
  IndexedTransaction
} from '@chain-data/index'
import { hashOf, type PresentTransaction, people } from '@chain-data/index/test'
import type { Random } from '../../../devnet/src/platform/createRandom.ts'

/** A transaction that somebody has signed; blocks and pools take it and lose it again. */
export interface SentTransaction {
  readonly hash: Hash
  readonly from: Address
  readonly to: Address
  readonly nonce: bigint
  readonly gasPrice: bigint
  /** Everyone it concerns. */
  readonly parties: readonly Address[]
  readonly candidates: readonly HoldingCandidate[]
}

/** What the chain and the pool were from one moment on. */
export interface ChainState {
  readonly sinceMs: number
  readonly blocks: readonly IndexedBlock[]
  readonly pool: readonly SentTransaction[]
  readonly finalized: number
}

/** A chain with its pool, of which everything that it ever was is known. */
export interface SimulatedChain {
  /** All states so far, oldest first. */
  readonly states: readonly ChainState[]
  now(): ChainState
  /** Puts so many new transactions into the pool. */
  send(count: number): void
  /** Replaces a transaction of the pool by another one with its nonce and a higher price. */
  outbid(): void
  /** Takes a transaction out of the pool, and all later ones of its sender. */
  drop(): void
  /** Adds blocks with transactions of the pool, and some that were never in it. */
  mine(count: number): void
  /** Replaces the newest blocks by others; the transactions that they had return to the pool or are mined again. */
  reorg(depth: number, newBlocks: number): void
  /** The blocks from the first one up to this one; absent when it was never canonical. */
  upTo(tip: Hash): readonly IndexedBlock[] | undefined
  /** Blocks that were canonical at this height at some time. */
  everAt(height: number): readonly IndexedBlock[]
  /** When this block was the newest one for the last time. */
  lastNewestMs(block: Hash): number
  /** Since when, without a gap, the transaction is in the chain or in the pool. */
  aliveSinceMs(transaction: Hash): number | undefined
  /** When it was in the pool for the last time. */
  lastPendingMs(transaction: Hash): number | undefined
}

export const genesisHash = hashOf('genesis')
const accounts = people.slice(0, 5)
const contracts = people.slice(5)
const secondsPerBlock = 12
const finalDepth = 6

export function createSimulatedChain(random: Random, nowMs: () => number): SimulatedChain {
  const byHash = new Map<Hash, IndexedBlock>()
  const byHeight: IndexedBlock[][] = []
  const paths = new Map<Hash, readonly IndexedBlock[]>()
  const newestUntil = new Map<Hash, number>()
  const sent = new Map<Hash, SentTransaction>()
  const aliveSince = new Map<Hash, number>()
  const pendingUntil = new Map<Hash, number>()
  const states: ChainState[] = []
  let blocks: IndexedBlock[] = []
  let pool: SentTransaction[] = []
  let finalized = 0
  let names = 0

  const pick = <T>(items: readonly T[]): T => items[random.below(items.length)] as T
  /** What the chain has of a sender is its next nonce. */
  const nextNonce = (from: Address) =>
    blocks.reduce(
      (count, { transactions }) => count + transactions.filter(each => each.transaction.from === from).length,
      0
    )

  function sign(from: Address, nonce: bigint, gasPrice: bigint): SentTransaction {
    const to = pick(accounts)
    const others = random.below(4) === 0 ? [pick(people)] : []
    const hash = hashOf(`transaction ${names++}`)
    const transaction = {
      ...{ hash, from, to, nonce, gasPrice },
      parties: [...new Set([from, to, ...others])],
      candidates: random.below(3) === 0 ? [candidateOf(to)] : []
    }
    sent.set(hash, transaction)
    return transaction
  }

  function candidateOf(owner: Address): HoldingCandidate {
    const contract = pick(contracts)
    const tokenId = BigInt(random.below(4))
    const kind = random.below(3)
    if (kind === 0) return { owner, contract, standard: 'erc20' }
    if (kind === 1) return { owner, contract, standard: 'erc1155', tokenId }
    return random.below(4) === 0
      ? { owner, contract, standard: 'erc721', tokenId, lastTokenId: tokenId + 10n }
      : { owner, contract, standard: 'erc721', tokenId }
  }

  function append(transactions: readonly SentTransaction[]): void {
    const parent = blocks.at(-1)
    const number = blocks.length
    const hash = hashOf(`block ${number} ${names++}`)
    const timestampSeconds = 1_700_000_000 + number * secondsPerBlock
    const block: IndexedBlock = {
      ref: { number, hash },
      parentHash: parent?.ref.hash ?? hashOf('before everything'),
      timestampSeconds,
      transactions: transactions.map((each, index) => confirm(each, number, index, timestampSeconds)),
      events: eventsIn()
    }
    blocks.push(block)
    byHash.set(hash, block)
    const rivals = byHeight[number] ?? []
    rivals.push(block)
    byHeight[number] = rivals
    newestUntil.set(hash, nowMs())
  }

  function eventsIn(): readonly AccountEvents[] {
    if (random.below(3) > 0) return []
    return [{ address: pick(accounts), events: [{ kind: 'withdrawal', amount: BigInt(random.below(1000)) }] }]
  }

  /** Those that may be mined next: of each sender in the order of nonces, without a gap. */
  function minable(): SentTransaction[] {
    return accounts.flatMap(from => {
      const first = BigInt(nextNonce(from))
      const own = pool.filter(each => each.from === from).sort((a, b) => Number(a.nonce - b.nonce))
      return own.filter((each, at) => each.nonce === first + BigInt(at))
    })
  }

  function mineOne(): void {
    const taken = minable().filter(() => random.below(4) > 0)
    // Of a sender, what comes after one that is left out has to wait.
    const chosen: SentTransaction[] = []
    for (const from of accounts) {
      let nonce = BigInt(nextNonce(from))
      for (const each of taken.filter(other => other.from === from)) {
        if (each.nonce !== nonce) break
        chosen.push(each)
        nonce++
      }
      // Sent to a miner directly: no pool has ever shown it.
      const isFree = pool.every(each => each.from !== from || chosen.includes(each))
      if (isFree && random.below(6) === 0) chosen.push(sign(from, nonce, 1_000n))
    }
    append(chosen)
    dropMined()
  }

  function dropMined(): void {
    const next = new Map(accounts.map(from => [from, BigInt(nextNonce(from))]))
    pool = pool.filter(({ from, nonce }) => nonce >= (next.get(from) ?? 0n))
  }

  function remember(): void {
    const at = nowMs()
    const head = blocks.at(-1)?.ref
    const before = states.at(-1)
    const last = before?.blocks.at(-1)?.ref.hash
    if (last !== undefined && last !== head?.hash) newestUntil.set(last, at)
    if (head !== undefined) newestUntil.set(head.hash, Number.POSITIVE_INFINITY)
    finalized = Math.max(0, Math.min(finalized, blocks.length - 1), blocks.length - 1 - finalDepth)
    const pending = new Set(pool.map(({ hash }) => hash))
    for (const { hash } of before?.pool ?? []) if (!pending.has(hash)) pendingUntil.set(hash, at)
    for (const hash of pending) pendingUntil.set(hash, Number.POSITIVE_INFINITY)
    const alive = new Set(pending)
    for (const { transactions } of blocks) for (const each of transactions) alive.add(each.transaction.hash)
    for (const hash of aliveSince.keys()) if (!alive.has(hash)) aliveSince.delete(hash)
    for (const hash of alive) if (!aliveSince.has(hash)) aliveSince.set(hash, at)
    states.push({ sinceMs: at, blocks: [...blocks], pool: [...pool], finalized })
  }

  const chain: SimulatedChain = {
    states,
    now: () => states.at(-1) as ChainState,
    send(count) {
      for (let left = count; left > 0; left--) {
        const from = pick(accounts)
        const waiting = pool.filter(each => each.from === from).length
        pool.push(sign(from, BigInt(nextNonce(from) + waiting), BigInt(1_000 + random.below(1_000))))
      }
      remember()
    },
    outbid() {
      if (pool.length === 0) return
      const old = pick(pool)
      pool = pool.map(each => (each === old ? sign(old.from, old.nonce, old.gasPrice * 2n) : each))
      remember()
    },
    drop() {
      if (pool.length === 0) return
      const { from, nonce } = pick(pool)
      pool = pool.filter(each => each.from !== from || each.nonce < nonce)
      remember()
    },
    mine(count) {
      for (let left = count; left > 0; left--) mineOne()
      remember()
    },
    reorg(depth, newBlocks) {
      // The first block stays: a chain without it is another chain.
      const kept = Math.max(1, blocks.length - depth)
      const removed = blocks.slice(kept)
      blocks = blocks.slice(0, kept)
      const returned = removed.flatMap(({ transactions }) =>
        transactions.flatMap(({ transaction }) => sent.get(transaction.hash) ?? [])
      )
      // A rival of the pool with the same nonce gives way.
      const isTaken = (each: SentTransaction) =>
        returned.some(({ from, nonce }) => from === each.from && nonce === each.nonce)
      pool = [...returned, ...pool.filter(each => !isTaken(each))]
      if (random.below(3) === 0 && pool.length > 0) {
        const { from, nonce } = pick(pool)
        pool = pool.filter(each => each.from !== from || each.nonce < nonce)
      }
      for (let left = newBlocks; left > 0; left--) mineOne()
      remember()
    },
    upTo(tip) {
      const known = paths.get(tip)
      if (known !== undefined) return known
      const path: IndexedBlock[] = []
      for (let at = byHash.get(tip); at !== undefined; at = byHash.get(at.parentHash)) path.push(at)
      if (path.length === 0) return undefined
      paths.set(tip, path.reverse())
      return path
    },
    everAt: height => byHeight[height] ?? [],
    lastNewestMs: block => newestUntil.get(block) ?? Number.NEGATIVE_INFINITY,
    aliveSinceMs: transaction => aliveSince.get(transaction),
    lastPendingMs: transaction => pendingUntil.get(transaction)
  }
  append([])
  remember()
  return chain
}

function confirm(
  { hash, from, to, nonce, gasPrice, parties, candidates }: SentTransaction,
  blockNumber: number,
  index: number,
  timestampSeconds: number
): IndexedTransaction {
  const gasSpent = BigInt(21_000 + index)
  return {
    transaction: {
      ...{ hash, from, to, nonce, gasPrice, gasSpent, blockNumber, index, timestampSeconds },
      ...{ value: 5n, data: '0x', gasLimit: 90_000n, type: 0, feeWei: gasPrice * gasSpent },
      status: hash.endsWith('0') ? 4 : 3
    },
    parties,
    candidates
  }
}

/** A transaction as a pool shows it. */
export function presentIn({ hash, from, to, nonce, gasPrice }: SentTransaction): PresentTransaction {
  return { hash, from, to, nonce, gasPrice, value: 5n, data: '0x', gasLimit: 90_000n, type: 0, status: 1 }
}
