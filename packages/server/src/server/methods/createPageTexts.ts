import type { HistoryReader } from '../../index/port/history.ts'
import type { StatusReader } from '../../index/port/status.ts'
import type { TransactionPosition } from '../../index/record/transactionId.ts'
import { toTransactionId } from '../../index/record/transactionId.ts'
import type { Address } from '../../model/evm.ts'
import { BoundedMap } from '../../platform/boundedMap.ts'
import type { Attached, WriteRecords } from './createRecordWriter.ts'

/** A page of confirmed transactions of an address, newest first, at most `limit`. */
export interface ConfirmedPage {
  readonly chainId: number
  readonly address: Address
  readonly limit: number
  /** Absent: from the newest one on. */
  readonly olderThan: TransactionPosition | undefined
  /** Details that are written into the records of `address`; absent: none. */
  readonly attached?: Attached | undefined
  /** The view includes history older than the index; absent: it does not. */
  readonly isDeep?: boolean
}

/** The source of pages: a snapshot, with or without history older than the index. */
export type HistoryView = Pick<HistoryReader, 'records'> & Pick<StatusReader, 'rollbacks'>

/** The JSON texts of confirmed transactions, with commas between them, in one or more pieces. */
export type ReadPageTexts = (view: HistoryView, page: ConfirmedPage) => AsyncIterable<string>

/** Maximum length of a kept text. A page of the usual size has a quarter of it. */
const longestText = 262_144
/** Memory of an entry beside its text. */
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
 * Confirmed history changes in two ways only: newer transactions of the address come, or blocks are rolled back. So a
 * kept page is used when the snapshot has the same newest transaction of the address, and as many rollbacks, as the
 * one that it was read from.
 *
 * @param options.bytes - of all texts together; 0 keeps none.
 * @remarks Checking whether a kept page still holds costs one index read.
 */
export function createPageTexts(options: {
  readonly write: WriteRecords
  readonly bytes: number
}): ReadPageTexts {
  const { write, bytes } = options
  const kept = new BoundedMap<string, KeptPage>(bytes)

  return async function* read(view, { chainId, address, limit, olderThan, attached, isDeep = false }) {
    const newestId = olderThan === undefined ? await newestOf(view, address) : toTransactionId(olderThan)
    if (newestId === undefined) return
    const rollbacks = await view.rollbacks()
    const from = olderThan === undefined ? 'newest' : newestId
    const key = `${chainId} ${address} ${limit} ${from} ${nameOf(attached)} ${isDeep}`
    const known = kept.get(key)
    if (known !== undefined && known.rollbacks === rollbacks && known.newestId === newestId) {
      yield known.text
      return
    }
    let text: string | undefined = ''
    const records = view.records(address, { limit, ...(olderThan === undefined ? {} : { olderThan }) })
    for await (const chunk of records) {
      const piece = write(chunk, attached)
      if (text !== undefined) text = text === '' ? piece : `${text},${piece}`
      if (text !== undefined && text.length > longestText) text = undefined
      yield piece
    }
    // Only a page read to its end is whole.
    if (text !== undefined) kept.set(key, { rollbacks, newestId, text }, entryBytes + text.length)
  }
}

/** Names each choice of what is attached. */
function nameOf(attached: Attached | undefined): string {
  return `${attached?.transfers ? 't' : ''}${attached?.internal ? 'i' : ''}${attached?.operations ? 'o' : ''}`
}

async function newestOf(view: HistoryView, address: Address): Promise<number | undefined> {
  for await (const { ids } of view.records(address, { limit: 1 })) return ids[0]
  return undefined
}
