/** What an event says, as far as a fold needs it. */
export interface Change {
  readonly kind: 'added' | 'updated' | 'confirmed' | 'unconfirmed' | 'removed' | 'final'
  /** Those watched, checksummed. */
  readonly addresses: readonly string[]
  readonly record?: HistoryRecord
  readonly hash?: string
  readonly block?: { readonly blockNumber: number; readonly blockHash: string }
  readonly reason?: string
  readonly replacedBy?: string
}

/** The members of a record that its place in a history depends on. */
export interface HistoryRecord {
  readonly hash: string
  readonly status: number
  readonly nonce: number
  /** Of confirmed records only. */
  readonly blockNumber?: number
}

/** A change that does not fit the history that it is told of. */
class FoldError extends Error {}

const isPending = ({ status }: HistoryRecord) => status <= 1

/**
 * The history of one account, kept by changes alone. It is strict: a change must say what it does to just this history, so
 * that an event that is lost or comes twice is seen at once.
 */
export class AccountFold {
  /** Newest first. */
  readonly #confirmed: HistoryRecord[] = []
  readonly #pending = new Map<string, HistoryRecord>()
  readonly #final = new Set<string>()
  /** Confirmed by a change. */
  readonly #told = new Set<string>()

  /** @param records - of a history, in its order. */
  constructor(records: readonly HistoryRecord[]) {
    for (const record of records) {
      if (isPending(record)) this.#pending.set(record.hash, record)
      else this.#confirmed.push(record)
    }
  }

  /** @throws {FoldError} The change does not fit. */
  apply(change: Change): void {
    const hash = change.record?.hash ?? change.hash ?? ''
    const [isInPool, isInBlock] = [this.#pending.has(hash), this.#find(hash) >= 0]
    const expect = (fits: boolean, expectation: string) => {
      if (!fits) throw new FoldError(`${change.kind} ${hash}: ${expectation}`)
    }
    switch (change.kind) {
      case 'added':
        expect(!isInPool && !isInBlock, 'it is in the history already')
        this.#put(change)
        return
      case 'updated': {
        expect(isInPool, 'it is not in the pool')
        const before = JSON.stringify(this.#pending.get(hash))
        expect(JSON.stringify(change.record) !== before, 'it changes nothing')
        expect(change.record !== undefined && isPending(change.record), 'its record is not pending')
        this.#put(change)
        return
      }
      case 'confirmed':
        // Or in a block that a reorg removed.
        expect(isInPool || isInBlock, 'it is not in the history')
        expect(change.record !== undefined && !isPending(change.record), 'its record is pending')
        this.#takeOut(hash)
        this.#put(change)
        return
      case 'unconfirmed':
        expect(isInBlock, 'it is in no block')
        expect(change.record !== undefined && isPending(change.record), 'its record is not pending')
        this.#takeOut(hash)
        this.#put(change)
        return
      case 'removed':
        expect(isInPool || isInBlock, 'it is not in the history')
        this.#takeOut(hash)
        return
      case 'final':
        expect(isInBlock, 'it is in no block')
        expect(!this.#final.has(hash), 'it is final already')
        this.#final.add(hash)
        return
      default:
        throw new FoldError(`${JSON.stringify(change)}: no such kind of change`)
    }
  }

  /**
   * Up to this block all is final.
   * @throws {FoldError} A record whose block was told of is not.
   */
  finalizedTo(blockNumber: number): void {
    for (const record of this.#confirmed) {
      if ((record.blockNumber ?? 0) > blockNumber || !this.#told.has(record.hash)) continue
      if (!this.#final.has(record.hash)) {
        throw new FoldError(
          `${record.hash} in block ${record.blockNumber} is not final, block ${blockNumber} is`
        )
      }
    }
  }

  /** The history as JSON. */
  text(): string {
    const pending = [...this.#pending.values()].sort(
      (a, b) => b.status - a.status || b.nonce - a.nonce || (a.hash < b.hash ? -1 : 1)
    )
    return JSON.stringify([...pending, ...this.#confirmed])
  }

  #put({ kind, record, block }: Change): void {
    if (record === undefined) throw new FoldError(`${kind} has no record`)
    if (isPending(record)) {
      this.#pending.set(record.hash, record)
      return
    }
    this.#told.add(record.hash)
    const { blockNumber = -1 } = record
    if (block?.blockNumber !== blockNumber) {
      throw new FoldError(
        `${kind} ${record.hash}: its block is ${blockNumber}, of the event ${block?.blockNumber}`
      )
    }
    // Within a block they come by their index. What a reorg removed may still be there.
    const place = this.#confirmed.findIndex(each => (each.blockNumber ?? -1) <= blockNumber)
    this.#confirmed.splice(place < 0 ? this.#confirmed.length : place, 0, record)
  }

  #find(hash: string): number {
    return this.#confirmed.findIndex(record => record.hash === hash)
  }

  #takeOut(hash: string): void {
    this.#pending.delete(hash)
    const place = this.#find(hash)
    if (place >= 0) this.#confirmed.splice(place, 1)
    this.#final.delete(hash)
  }
}
