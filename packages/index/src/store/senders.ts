import type { Address, ConfirmedTransaction, Hash } from '../model/evm.ts'

interface Place {
  readonly nonce: bigint
  readonly hash: Hash
}

/**
 * Pool entries of each sender in the order of their nonces, so that what a confirmed nonce ends is found without
 * looking at the rest of the pool.
 */
export class SenderQueues {
  readonly #queues = new Map<Address, Place[]>()

  add(from: Address, place: Place): void {
    const queue = this.#queues.get(from)
    if (queue === undefined) this.#queues.set(from, [place])
    else queue.splice(firstAfter(queue, place.nonce), 0, place)
  }

  /** Nothing happens when it is not there. */
  remove(from: Address, { nonce, hash }: Place): void {
    const queue = this.#queues.get(from)
    if (queue === undefined) return
    for (let at = firstAfter(queue, nonce) - 1; queue[at]?.nonce === nonce; at--) {
      if (queue[at]?.hash === hash) queue.splice(at, 1)
    }
    if (queue.length === 0) this.#queues.delete(from)
  }

  /** The entry with this nonce; of several, the one added last. */
  at(from: Address, nonce: bigint): Hash | undefined {
    const queue = this.#queues.get(from) ?? []
    const found = queue[firstAfter(queue, nonce) - 1]
    return found?.nonce === nonce ? found.hash : undefined
  }

  /** All entries with this nonce or a lower one. */
  upTo(from: Address, nonce: bigint): readonly Hash[] {
    const queue = this.#queues.get(from) ?? []
    return queue.slice(0, firstAfter(queue, nonce)).map(({ hash }) => hash)
  }
}

/** Where the nonces above `nonce` begin. */
function firstAfter(queue: readonly Place[], nonce: bigint): number {
  let low = 0
  let high = queue.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((queue[middle]?.nonce ?? nonce) > nonce) high = middle
    else low = middle + 1
  }
  return low
}

/** How long, in blocks, a node may go on listing what a block has ended. */
export const rememberedBlocks = 64
/** Bounds the memory where blocks are full: the senders of the newest transactions are kept. */
const maxSenders = 100_000
/** EIP-2718 types whose nonce the protocol counts. Types of rollups' own carry nonces that end nothing. */
const lastCountedType = 4

/** Whether the nonce of a transaction of this type is one that the protocol counts. */
export function countsNonce(type: number): boolean {
  return type <= lastCountedType
}

/** The highest nonce that each sender has in the newest 64 indexed blocks. Fed with their transactions, oldest first. */
export class SenderNonces {
  /** Oldest block first. */
  readonly #bySender = new Map<Address, { readonly nonce: bigint; readonly block: number }>()

  /** Takes transactions in. @returns the highest nonce of each of their senders. */
  note(
    transactions: Iterable<Pick<ConfirmedTransaction, 'from' | 'nonce' | 'type' | 'blockNumber'>>
  ): ReadonlyMap<Address, bigint> {
    const nonces = new Map<Address, bigint>()
    for (const { from, nonce, type, blockNumber } of transactions) {
      if (!countsNonce(type)) continue
      const highest = (known: bigint | undefined) => (known !== undefined && known > nonce ? known : nonce)
      nonces.set(from, highest(nonces.get(from)))
      const known = this.#bySender.get(from)
      this.#bySender.delete(from)
      this.#bySender.set(from, { nonce: highest(known?.nonce), block: blockNumber })
    }
    return nonces
  }

  /** Whether a transaction of this sender with this nonce or a higher one is in a remembered block. */
  covers(from: Address, nonce: bigint): boolean {
    const confirmed = this.#bySender.get(from)
    return confirmed !== undefined && nonce <= confirmed.nonce
  }

  /** Forgets senders whose newest block is too old, next to `head`. */
  dropOld(head: number): void {
    for (const [from, { block }] of this.#bySender) {
      if (block > head - rememberedBlocks && this.#bySender.size <= maxSenders) return
      this.#bySender.delete(from)
    }
  }

  clear(): void {
    this.#bySender.clear()
  }
}
