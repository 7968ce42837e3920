import type { Address, Hash } from '../model/evm.ts'
import { addressLength, fieldIndex, hashLength } from '../record/RecordParts.ts'
import { mapRecords, type RecordChunk } from '../record/record.ts'
import { hexAt, integerAt, varintAt } from '../record/recordBytes.ts'

/** How long, in blocks, a node may go on listing what a block has ended. */
export const rememberedBlocks = 64
/** Bounds the memory where blocks are full: the senders of the newest transactions are kept. */
const maxSenders = 100_000
/** EIP-2718 types whose nonce the protocol counts. Types of rollups' own carry nonces that end nothing. */
const lastCountedType = 4
const [fromField, typeField, nonceField] = [fieldIndex('from'), fieldIndex('type'), fieldIndex('nonce')]

/** A transaction in a block, as the pool looks at it. */
export interface SentTransaction {
  readonly blockNumber: number
  readonly hash: Hash
  readonly from: Address
  readonly nonce: bigint
  /** Its nonce is one that the protocol counts. */
  readonly isCounted: boolean
}

/** Reads who has sent the transactions of records, and nothing else of them. */
export function readSent({ ids, bytes }: RecordChunk): readonly SentTransaction[] {
  return mapRecords({ ids, bytes }, (parts, { blockNumber }) => ({
    blockNumber,
    hash: hexAt(bytes, parts.at(0), hashLength),
    from: hexAt(bytes, parts.at(fromField), addressLength),
    nonce: integerAt(bytes, parts.at(nonceField)),
    isCounted: varintAt(bytes, parts.at(typeField)) <= lastCountedType
  }))
}

/** The highest nonce that each sender has in the newest 64 indexed blocks. Fed with their transactions, oldest first. */
export class SenderNonces {
  /** Oldest block first. */
  readonly #bySender = new Map<Address, { readonly nonce: bigint; readonly block: number }>()

  /** Takes transactions of blocks up to `head` in. @returns the highest nonce of each of their senders. */
  note(transactions: Iterable<SentTransaction>, head: number): Map<Address, bigint> {
    const nonces = new Map<Address, bigint>()
    for (const { from, nonce, isCounted, blockNumber } of transactions) {
      if (!isCounted) continue
      const highest = (known = nonce) => (known > nonce ? known : nonce)
      nonces.set(from, highest(nonces.get(from)))
      const known = this.#bySender.get(from)
      this.#bySender.delete(from)
      this.#bySender.set(from, { nonce: highest(known?.nonce), block: blockNumber })
    }
    for (const [from, { block }] of this.#bySender) {
      if (block > head - rememberedBlocks && this.#bySender.size <= maxSenders) break
      this.#bySender.delete(from)
    }
    return nonces
  }

  /** Whether a transaction of this sender with this nonce or a higher one is in a remembered block. */
  covers(from: Address, nonce: bigint): boolean {
    const confirmed = this.#bySender.get(from)
    return confirmed !== undefined && nonce <= confirmed.nonce
  }
}
