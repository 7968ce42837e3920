import type { Address, Hash } from '../../model/evm.ts'

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
