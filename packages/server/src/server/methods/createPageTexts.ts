import type { Address, Hash, HistoryReader, Snapshot, StatusReader } from '@chain-data/index'
import { type RecordChunk, type TransactionPosition, toTransactionId } from '@chain-data/index/record'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { present } from '../../platform/present.ts'
import type { Attached, WriteRecords } from './createRecordWriter.ts'
import { ResultText } from './MethodContext.ts'

/** A page of confirmed transactions of an address, newest first, at most `limit`; nothing pending comes before it in its answer. */
export interface ConfirmedPage {
  readonly chainId: number
  readonly address: Address
  readonly limit: number
  /** Hash of the transaction that the page comes after, in lower case; absent: from the newest one on. */
  readonly before?: Hash | undefined
  /** Position of that transaction. */
  readonly olderThan: TransactionPosition | undefined
  /** Details that are written into the records of `address`; absent: none. */
  readonly attached?: Attached | undefined
  /** The view includes history older than the index; absent: it does not. */
  readonly isDeep?: boolean
  /** First block of the index, which older ones may be added to. */
  readonly indexedFrom: number
}

/** Everything that distinguishes a page from others. */
type PageName = Omit<ConfirmedPage, 'olderThan' | 'indexedFrom'>

/** The source of pages: a snapshot, with or without history older than the index. */
export type HistoryView = Pick<HistoryReader, 'records'> &
  Pick<StatusReader, 'rollbacks'> &
  Pick<Snapshot, 'version'>

/** Pages as they are asked for. */
export interface PageTexts {
  /**
   * Returns a kept page without reading anything.
   * @returns also the last version of the index in which the page is known to hold; absent: of none.
   */
  kept(page: PageName): Pick<KeptPage, 'text' | 'version'> | undefined
  /** Returns a kept page that still holds. Costs one index read. */
  find(view: HistoryView, page: ConfirmedPage): Promise<ResultText | undefined>
  /**
   * Reads a page and keeps it.
   * @returns of a page that is too long to be kept the texts of its records in pieces; `view` stays open until they are read.
   */
  read(view: HistoryView, page: ConfirmedPage): Promise<ResultText | AsyncIterable<string>>
}

/** Maximum length of a kept text. A page of the usual size has a quarter of it. */
const longestText = 262_144
/** Memory of a text, and of what it is compressed to, for each of its bytes. */
const codedShare = 1.5
/** Memory of an entry beside its text. */
const entryBytes = 500
const comma = Buffer.from(',')

interface KeptPage {
  readonly rollbacks: number
  /** Newest transaction that the page could begin with; absent: the address has none. */
  readonly newestId: number | undefined
  /** First block of the index, where older ones would make the page longer; absent where it is full. */
  readonly indexedFrom: number | undefined
  readonly text: ResultText
  /** Last version in which the page held; absent where that is not known. */
  version: number | undefined
}

/**
 * Keeps the text of the pages that were asked for last: programs that show an account ask for its first page again and
 * again, and most of the time nothing has come.
 *
 * As long as nothing at all is committed to the index, a kept page is given out without a read. Otherwise it is judged by what
 * can change it: newer transactions of the address, blocks that are rolled back, and older blocks, if it is not full. So it still
 * holds when the snapshot has the same newest transaction of the address, as many rollbacks and, if it is not full, the same first
 * block as the one that it was read from.
 *
 * @param options.bytes - of all texts together; 0 keeps none.
 */
export function createPageTexts(options: {
  readonly write: WriteRecords
  readonly bytes: number
}): PageTexts {
  const { write, bytes } = options
  const kept = new BoundedMap<string, KeptPage>(bytes)

  return {
    kept: page => kept.get(nameOf(page)),

    async find(view, page) {
      const known = kept.get(nameOf(page))
      if (known === undefined) return undefined
      const { rollbacks, newestId, indexedFrom, text } = known
      if (indexedFrom !== undefined && indexedFrom !== page.indexedFrom) return undefined
      if (rollbacks !== (await view.rollbacks()) || newestId !== (await newestOf(view, page)))
        return undefined
      known.version = view.version
      return text
    },

    async read(view, page) {
      const { address, limit, olderThan, attached } = page
      let newestId = olderThan && toTransactionId(olderThan)
      let count = 0
      let read = Buffer.alloc(0)
      const records = view.records(address, { limit, ...present({ olderThan }) })[Symbol.asyncIterator]()
      for (let next = await records.next(); !next.done; next = await records.next()) {
        const { ids } = next.value
        newestId ??= ids[0]
        count += ids.length
        const piece = write(next.value, attached)
        read = Buffer.concat(read.length === 0 ? [piece] : [read, comma, piece])
        if (read.length > longestText) return withRest(read, records, chunk => write(chunk, attached))
      }
      const text = new ResultText(read)
      if (bytes > 0) {
        const rollbacks = await view.rollbacks()
        const indexedFrom = count < limit ? page.indexedFrom : undefined
        const entry = { rollbacks, newestId, indexedFrom, text, version: view.version }
        kept.set(nameOf(page), entry, entryBytes + read.length * codedShare)
      }
      return text
    }
  }
}

/** Continues a page that was begun to be read. */
async function* withRest(
  read: Buffer,
  records: AsyncIterator<RecordChunk>,
  write: (chunk: RecordChunk) => Buffer
): AsyncGenerator<string> {
  try {
    yield read.toString('latin1')
    for (let next = await records.next(); !next.done; next = await records.next())
      yield write(next.value).toString('latin1')
  } finally {
    await records.return?.()
  }
}

/** Names a page and the choice of what is attached to it. */
function nameOf({ chainId, address, limit, before, attached, isDeep = false }: PageName): string {
  const details = `${attached?.transfers ? 't' : ''}${attached?.internal ? 'i' : ''}${attached?.operations ? 'o' : ''}`
  return `${address}${chainId} ${limit}${before ?? ''}${details}${isDeep ? ' deep' : ''}`
}

async function newestOf(
  view: HistoryView,
  { address, olderThan }: ConfirmedPage
): Promise<number | undefined> {
  if (olderThan !== undefined) return toTransactionId(olderThan)
  for await (const { ids } of view.records(address, { limit: 1 })) return ids[0]
  return undefined
}
