import type { Address, ConfirmedTransaction } from '../../model/evm.ts'

/** How long, in blocks, a node may go on listing what a block has ended. */
export const rememberedBlocks = 64
/** Bounds the memory where blocks are full: the senders of the newest transactions are kept. */
const mostSenders = 100_000
/** EIP-2718 types whose nonce the protocol counts. Types of rollups' own carry nonces that end nothing. */
const lastCountedType = 4

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
      if (type > lastCountedType) continue
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

  /** Forgets what is too old beside `head`, the newest block. */
  dropOld(head: number): void {
    for (const [from, { block }] of this.#bySender) {
      if (block > head - rememberedBlocks && this.#bySender.size <= mostSenders) return
      this.#bySender.delete(from)
    }
  }

  clear(): void {
    this.#bySender.clear()
  }
}
