import type { Address } from '../model/evm.ts'
import { BoundedMap } from '../platform/boundedMap.ts'
import type { RecordChunk, Snapshot, TransactionPosition } from '../store/store.ts'
import { toTransactionId } from '../store/transactionId.ts'

/** Which confirmed transactions: those of an address, newest first, at most `limit`. */
export interface ConfirmedPage {
  readonly chainId: number
  readonly address: Address
  readonly limit: number
  /** Absent: from the newest one on. */
  readonly olderThan: TransactionPosition | undefined
}

/** The JSON texts of confirmed transactions, with commas between them, in one or more pieces. */
export type ReadPageTexts = (snapshot: Snapshot, page: ConfirmedPage) => AsyncIterable<string>

/** A page of the usual size has a quarter of it. */
const longestText = 262_144
/** What an entry takes beside its text. */
const entryBytes = 400

interface KeptPage {
  readonly rollbacks: number
  /** Newest transaction that the page could begin with. */
  readonly newestId: number
  readonly text: string
}

/**
 * Reads pages, and keeps the text of those asked for last: programs that show an account ask for its first page again and
 * again, and most of the time nothing has come.
 *
 * What is confirmed changes in two ways only: newer transactions of the address come, or blocks are rolled back. So a
 * kept page is given out when the snapshot has the same newest transaction of the address, and as many rollbacks, as the
 * one that it was read from.
 *
 * @param options.bytes - of all texts together; 0 keeps none.
 * @remarks Looking whether a kept page still holds costs one index read.
 */
export function createPageTexts(options: {
  readonly write: (chunk: RecordChunk) => string
  readonly bytes: number
}): ReadPageTexts {
  const { write, bytes } = options
  const kept = new BoundedMap<string, KeptPage>(bytes)

  return async function* read(snapshot, { chainId, address, limit, olderThan }) {
    const newestId = olderThan === undefined ? await newestOf(snapshot, address) : toTransactionId(olderThan)
    if (newestId === undefined) return
    const rollbacks = await snapshot.rollbacks()
    const from = olderThan === undefined ? 'newest' : newestId
    const key = `${chainId} ${address} ${limit} ${from}`
    const known = kept.get(key)
    if (known !== undefined && known.rollbacks === rollbacks && known.newestId === newestId) {
      yield known.text
      return
    }
    let text: string | undefined = ''
    const records = snapshot.records(address, { limit, ...(olderThan === undefined ? {} : { olderThan }) })
    for await (const chunk of records) {
      const piece = write(chunk)
      if (text !== undefined) text = text === '' ? piece : `${text},${piece}`
      if (text !== undefined && text.length > longestText) text = undefined
      yield piece
    }
    // Only a page read to its end is whole.
    if (text !== undefined) kept.set(key, { rollbacks, newestId, text }, entryBytes + text.length)
  }
}

async function newestOf(snapshot: Snapshot, address: Address): Promise<number | undefined> {
  for await (const { ids } of snapshot.records(address, { limit: 1 })) return ids[0]
  return undefined
}
