import type {
  Address,
  BlockRef,
  ConfirmedTransaction,
  Hash,
  HoldingCandidate,
  IndexedBlock
} from '@chain-data/index'
import { buildChain, people, type TransactionPlan } from '@chain-data/index/test'
import type { Random } from '../../../devnet/src/platform/createRandom.ts'

/** Random chain in memory, with every branch that it ever had. */
export interface SeededChain {
  /** Blocks of the present branch, oldest first. */
  readonly blocks: readonly IndexedBlock[]
  grow(count: number): void
  /** Replaces the newest blocks by as many others; some of their transactions are mined again. */
  replace(count: number): void
  /** Transactions of an account on the branch whose newest block is `head`, newest first. */
  historyAt(
    head: Hash,
    address: Address,
    part?: { readonly olderThan?: Position; readonly limit?: number }
  ): readonly ConfirmedTransaction[]
  /** Holding candidates of an account on that branch, as `candidateText` writes them. */
  candidatesAt(head: Hash, owner: Address): ReadonlySet<string>
  /** Position of a transaction on that branch; absent: the branch lacks it. */
  positionAt(head: Hash, hash: Hash): Position | undefined
  /** Newest block that the present branch shares with the branch of `head`. */
  ancestorOf(head: Hash): BlockRef | undefined
  /** Transactions of the blocks above `below`, up to and with `head`. */
  hashesBetween(below: Hash, head: Hash): readonly Hash[]
  isOnBranch(head: Hash, block: { readonly number: number; readonly hash: Hash }): boolean
  /** Hashes of all transactions that were ever in a block of any branch. */
  readonly everHashes: readonly Hash[]
}

/** Position of a transaction in the chain. */
export interface Position {
  readonly blockNumber: number
  readonly index: number
}

const isOlder = (a: Position, b: Position): boolean =>
  a.blockNumber < b.blockNumber || (a.blockNumber === b.blockNumber && a.index < b.index)

/** Returns a text that is the same for equal candidates of an owner. */
export const candidateText = ({ contract, standard, ...rest }: HoldingCandidate): string =>
  `${standard} ${contract} ${'tokenId' in rest ? rest.tokenId : ''}`

export function createSeededChain(random: Random): SeededChain {
  const blocks: IndexedBlock[] = []
  const byHash = new Map<Hash, IndexedBlock>()
  const everHashes = new Set<Hash>()
  /** Transactions of removed blocks that are in no block now. */
  let removed: TransactionPlan[] = []
  const plans = new Map<Hash, readonly TransactionPlan[]>()
  let forks = 0

  const planned = (number: number): readonly TransactionPlan[] =>
    Array.from({ length: random.below(6) }, (_, i) => {
      const again = random.below(2) === 0 ? removed.shift() : undefined
      return again ?? plan(`${forks} ${number}/${i}`)
    })
  const plan = (name: string): TransactionPlan => {
    const parties = Array.from({ length: 1 + random.below(4) }, anyone)
    const candidates = Array.from({ length: random.below(3) }, (): HoldingCandidate => {
      const base = { owner: parties[0] ?? anyone(), contract: anyone() }
      if (random.below(2) === 0) return { ...base, standard: 'erc20' }
      return { ...base, standard: 'erc721', tokenId: BigInt(random.below(1_000)) }
    })
    return { name, parties, candidates }
  }
  const anyone = (): Address => people[random.below(people.length)] ?? '0x'

  function append(): void {
    const parent = blocks.at(-1)?.ref
    const plan = planned((parent?.number ?? -1) + 1)
    const [block] = buildChain([plan], { ...(parent && { parent }), fork: `${forks}` })
    if (block === undefined) throw new Error('a plan of one block gives one block')
    blocks.push(block)
    byHash.set(block.ref.hash, block)
    plans.set(block.ref.hash, plan)
    for (const { transaction } of block.transactions) everHashes.add(transaction.hash)
  }

  function* back(head: Hash): Generator<IndexedBlock> {
    for (let block = byHash.get(head); block !== undefined; block = byHash.get(block.parentHash)) yield block
  }

  return {
    blocks,
    grow(count) {
      for (let i = 0; i < count; i++) append()
    },
    replace(count) {
      forks++
      for (const { ref } of blocks.splice(-count)) removed.push(...(plans.get(ref.hash) ?? []))
      for (let i = 0; i < count; i++) append()
      // A transaction that is not mined again at once never is.
      removed = []
    },
    historyAt(head, address, { olderThan, limit = Number.POSITIVE_INFINITY } = {}) {
      const found: ConfirmedTransaction[] = []
      for (const { transactions } of back(head)) {
        for (const { transaction, parties } of transactions.toReversed()) {
          if (!parties.includes(address)) continue
          if (olderThan === undefined || isOlder(transaction, olderThan)) found.push(transaction)
          if (found.length === limit) return found
        }
      }
      return found
    },
    candidatesAt(head, owner) {
      const found = [...back(head)].flatMap(block => block.transactions.flatMap(each => each.candidates))
      return new Set(found.filter(each => each.owner === owner).map(candidateText))
    },
    positionAt(head, hash) {
      for (const { transactions } of back(head)) {
        const found = transactions.find(({ transaction }) => transaction.hash === hash)
        if (found !== undefined)
          return { blockNumber: found.transaction.blockNumber, index: found.transaction.index }
      }
      return undefined
    },
    ancestorOf(head) {
      for (const { ref } of back(head)) if (blocks[ref.number]?.ref.hash === ref.hash) return ref
      return undefined
    },
    hashesBetween(below, head) {
      const hashes: Hash[] = []
      for (const { ref, transactions } of back(head)) {
        if (ref.hash === below) break
        hashes.push(...transactions.map(({ transaction }) => transaction.hash))
      }
      return hashes
    },
    isOnBranch(head, { number, hash }) {
      for (const { ref } of back(head))
        if (ref.number <= number) return ref.hash === hash && ref.number === number
      return false
    },
    get everHashes() {
      return [...everHashes]
    }
  }
}
