import type { Address, Hash, HoldingCandidate, IndexedBlock, IndexedTransaction } from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'
import { encodeConfirmed } from '../record.ts'
import { toTransactionId } from '../transactionId.ts'
import { standardNumber, tokenIdsKey } from './tokenKey.ts'
import { encodeParties } from './undoParties.ts'

/** A stretch of the chain whose keys lie together in every large B-tree. */
export interface Epoch {
  readonly id: number
  readonly firstBlock: number
  readonly txCount: number
}

export interface BlockRow {
  readonly block: IndexedBlock
  /** Absent for a block without transactions. */
  readonly parties?: Buffer
}

export interface RecordRow {
  readonly id: number
  readonly rec: Buffer
}

export interface HoldingRow extends HoldingCandidate {
  readonly tokenIdsKey: Buffer
}

/** Rows of one epoch, each list in the order of its B-tree. */
export interface EpochRows {
  readonly epoch: Epoch
  readonly addresses: readonly (readonly [Address, readonly number[]])[]
  readonly hashes: readonly (readonly [Hash, number])[]
  readonly holdings: readonly HoldingRow[]
}

export interface BatchRows {
  readonly blocks: readonly BlockRow[]
  readonly records: readonly RecordRow[]
  readonly epochs: readonly EpochRows[]
}

/**
 * All rows that a batch of blocks adds, sorted as they will lie on disk: neighbours go in together, and each page is
 * touched once a batch.
 * @param current - the newest epoch in the store; absent while it is empty.
 * @param epochTransactions - a block that finds so many in its epoch begins the next one. Depends on blocks alone,
 *   so that the same chain gives the same epochs however it is cut into batches.
 */
export function collectRows(
  blocks: readonly IndexedBlock[],
  current: Epoch | undefined,
  epochTransactions: number
): BatchRows {
  const blockRows: BlockRow[] = []
  const records: RecordRow[] = []
  const epochs: EpochRows[] = []
  let gathered: EpochGatherer | undefined
  let epoch = current
  for (const block of blocks) {
    const { number } = block.ref
    if (epoch === undefined || epoch.txCount >= epochTransactions) {
      if (gathered !== undefined) epochs.push(gathered.rows())
      gathered = undefined
      epoch = { id: epoch === undefined ? 0 : epoch.id + 1, firstBlock: number, txCount: 0 }
    }
    gathered ??= new EpochGatherer(epoch)
    for (const indexed of block.transactions) records.push(gathered.add(indexed))
    gathered.count(block.transactions.length)
    epoch = gathered.epoch
    blockRows.push(block.transactions.length === 0 ? { block } : { block, parties: encodeParties(block) })
  }
  if (gathered !== undefined) epochs.push(gathered.rows())
  return { blocks: blockRows, records, epochs }
}

class EpochGatherer {
  epoch: Epoch
  readonly #idsByAddress = new Map<Address, number[]>()
  readonly #hashes: (readonly [Hash, number])[] = []
  readonly #holdings = new Map<string, HoldingRow>()

  constructor(epoch: Epoch) {
    this.epoch = epoch
  }

  add({ transaction, parties, candidates }: IndexedTransaction): RecordRow {
    const id = toTransactionId(transaction)
    for (const address of parties) {
      const ids = this.#idsByAddress.get(address)
      if (ids === undefined) this.#idsByAddress.set(address, [id])
      else if (ids.at(-1) !== id) ids.push(id)
    }
    this.#hashes.push([transaction.hash, id])
    for (const candidate of candidates) this.#addHolding(candidate)
    return { id, rec: encodeConfirmed(transaction) }
  }

  count(transactions: number): void {
    this.epoch = { ...this.epoch, txCount: this.epoch.txCount + transactions }
  }

  rows(): EpochRows {
    return {
      epoch: this.epoch,
      // Lower-case hex sorts like the bytes it stands for.
      addresses: [...this.#idsByAddress].sort(byFirst),
      hashes: this.#hashes.sort(byFirst),
      holdings: [...this.#holdings].sort(byFirst).map(([, holding]) => holding)
    }
  }

  #addHolding(candidate: HoldingCandidate): void {
    const { owner, contract, standard, tokenId, lastTokenId } = candidate
    if (
      (tokenId === undefined) !== (standard === 'erc20') ||
      (lastTokenId !== undefined && standard !== 'erc721')
    ) {
      throw new StoreError(
        `a holding candidate of ${contract} has standard ${standard} and token id ${tokenId}, last ${lastTokenId}`
      )
    }
    const key = tokenIdsKey(candidate)
    const sortKey = `${owner}${contract}${key.toString('hex')}-${standardNumber(standard)}`
    if (!this.#holdings.has(sortKey)) this.#holdings.set(sortKey, { ...candidate, tokenIdsKey: key })
  }
}

function byFirst(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0
}
