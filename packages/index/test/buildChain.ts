import { createHash } from 'node:crypto'
import type {
  AccountEvents,
  Address,
  BlockRef,
  ConfirmedTransaction,
  Hash,
  HoldingCandidate,
  IndexedBlock,
  IndexedTransaction
} from '../src/model/evm.ts'
import type { PoolUpdate } from '../src/port/pool.ts'

/** Addresses that short or careless keys would mix up, and the ones every chain is full of. */
export const people: readonly Address[] = [
  `0x${'00'.repeat(20)}`,
  `0x${'00'.repeat(19)}01`,
  `0x${'00'.repeat(19)}0a`,
  `0x${'ff'.repeat(20)}`,
  `0x${'ab'.repeat(8)}${'00'.repeat(12)}`,
  `0x${'ab'.repeat(8)}${'00'.repeat(11)}01`,
  `0x01${'00'.repeat(19)}`,
  `0x${'c0ffee'.repeat(6)}beef`
]

/** What a test says of a transaction; everything else follows from its name. */
export interface TransactionPlan {
  /** Same name, same hash: how a test has a transaction mined again in another block. */
  readonly name: string
  readonly parties: readonly Address[]
  readonly candidates?: readonly HoldingCandidate[]
  /** Left out indexes before this one, as some chains have them. */
  readonly gap?: number
}

/** Where a planned stretch of blocks hangs. */
export interface ChainStart {
  /** Absent: the stretch starts a chain at `firstNumber`. */
  readonly parent?: BlockRef
  readonly firstNumber?: number
  /** Two stretches on the same parent differ by this. */
  readonly fork?: string
}

/** A hash made from a name: the same one in every run. */
export function hashOf(name: string): Hash {
  return `0x${createHash('sha256').update(name).digest('hex')}`
}

/** Blocks as the indexer would hand them over, one for each list of transactions; not traced, with events of many kinds. */
export function buildChain(
  plans: readonly (readonly TransactionPlan[])[],
  { parent, firstNumber = 0, fork = '' }: ChainStart = {}
): readonly IndexedBlock[] {
  const blocks: IndexedBlock[] = []
  let previous = parent
  for (const plan of plans) {
    const number = previous === undefined ? firstNumber : previous.number + 1
    const parentHash = previous?.hash ?? hashOf('before everything')
    const ref = { number, hash: hashOf(`block ${number} ${fork} ${parentHash}`) }
    const timestampSeconds = 1_700_000_000 + number * 12
    let index = 0
    const transactions = plan.map(transactionPlan => {
      index += transactionPlan.gap ?? 0
      return toIndexed(transactionPlan, number, index++, timestampSeconds)
    })
    blocks.push({ ref, parentHash, timestampSeconds, transactions, events: eventsOf(ref) })
    previous = ref
  }
  return blocks
}

/** Up to three accounts in each block, other ones on another branch; one kind after the other. */
function eventsOf({ number, hash }: BlockRef): readonly AccountEvents[] {
  const seed = Number.parseInt(hash.slice(-4), 16)
  return Array.from({ length: seed % 4 }, (_, i): AccountEvents => {
    const address = people[(seed + i) % people.length] ?? '0x'
    const amount = BigInt(hash.slice(0, 4 + 2 * i))
    if (i === 0) return { address, events: [{ kind: 'tip', amount }] }
    if (i === 1) {
      return {
        address,
        events: [
          { kind: 'withdrawal', amount },
          { kind: 'withdrawal', amount: 0n }
        ]
      }
    }
    return {
      address,
      events: [
        { kind: 'authorization', nonce: 2n ** 64n - 1n },
        { kind: 'creation', count: number },
        { kind: 'reward', amount },
        { kind: 'mint', amount }
      ]
    }
  })
}

function toIndexed(
  { name, parties, candidates = [] }: TransactionPlan,
  blockNumber: number,
  index: number,
  timestampSeconds: number
): IndexedTransaction {
  const hash = hashOf(name)
  const [from = '0x', to] = parties
  const gasPrice = 1_000_000_007n
  const gasSpent = BigInt(21_000 + index)
  const transaction: ConfirmedTransaction = {
    hash,
    from,
    ...(to !== undefined && { to }),
    value: BigInt(hash.slice(0, 20)),
    data: `0xa9059cbb${'00'.repeat(12)}${hash.slice(2, 42)}`,
    gasLimit: 90_000n,
    nonce: BigInt(index),
    type: 2,
    accessList: [],
    maxFeePerGas: gasPrice * 2n,
    maxPriorityFeePerGas: 7n,
    blockNumber,
    index,
    timestampSeconds,
    status: index % 5 === 4 ? 4 : 3,
    gasPrice,
    gasSpent,
    feeWei: gasPrice * gasSpent
  }
  return { transaction, parties: [...new Set(parties)], candidates }
}

/** One pool entry, as a look at the pool gives it. */
export type PresentTransaction = PoolUpdate['present'][number]

/**
 * A pool entry made from a name, with the same hash as a mined transaction of that name. Unless it is told, its nonce is
 * one that no other name has, above all mined ones.
 */
export function poolTransaction(
  name: string,
  [from = '0x', to]: readonly Address[],
  {
    status = 1,
    nonce = 65_536n + BigInt(hashOf(name).slice(0, 14))
  }: { readonly status?: 0 | 1; readonly nonce?: bigint } = {}
): PresentTransaction {
  return {
    hash: hashOf(name),
    from,
    ...(to !== undefined && { to }),
    value: 5n,
    data: '0x',
    gasLimit: 21_000n,
    nonce,
    type: 0,
    gasPrice: 3n,
    status
  }
}
