import type { IndexCoverage } from '../port/status.ts'
import { addressLength } from '../record/encodeBlock.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { Tally } from '../record/tally.ts'
import { coverageUpTo, coverageWith } from '../shared/blocks.ts'
import { type MetaColumns, toMeta } from '../shared/rows.ts'
import { bytesArrayLiteral } from './literals.ts'
import type { WriterSession } from './session.ts'

/** Blocks whose undo data are read at once. */
const undoAtOnce = 32
/** A row of the address index as it is read here: address, then transaction id. */
const rowLength = addressLength + 8

interface Loaded {
  readonly tally: Tally
  coverage: IndexCoverage
}

/**
 * What the writer keeps beside the blocks: from where on more than their transactions is known, and the tally of the address
 * index. It is in memory from its first use on. Each change counts as stored: if the transaction that its statements are for
 * fails, `forget`.
 */
export class Ledger {
  readonly #session: WriterSession
  #loaded: Loaded | undefined

  constructor(session: WriterSession) {
    this.#session = session
  }

  /** What is known is read again before it is used. */
  forget(): void {
    this.#loaded = undefined
  }

  /** @returns statements for the transaction that stores these blocks. */
  async append({ headers, partyAddresses, partyIds }: PackedBlocks): Promise<readonly string[]> {
    const loaded = await this.#load()
    for (const [row, id] of partyIds.entries()) loaded.tally.add(partyAddresses, row * addressLength, id)
    return this.#store(loaded, coverageWith(loaded.coverage, headers))
  }

  /**
   * @param hasUndo - the undo data of all removed blocks are there.
   * @returns statements for the transaction that removes all blocks above `ancestor`.
   */
  async rollBack(ancestor: number, hasUndo: boolean): Promise<readonly string[]> {
    const loaded = await this.#load()
    const { talliedFrom, ...known } = coverageUpTo(loaded.coverage, ancestor)
    if (talliedFrom !== undefined && hasUndo) {
      await this.#subtractAbove(loaded.tally, ancestor).catch(error => {
        this.forget()
        throw error
      })
      return this.#store(loaded, { ...known, talliedFrom })
    }
    // What is removed is not known by its rows: counting begins anew with the next block.
    loaded.tally.clear()
    return this.#store(loaded, known)
  }

  /** @returns statements for the transaction that removes every block. */
  async clear(): Promise<readonly string[]> {
    const loaded = await this.#load()
    loaded.tally.clear()
    return this.#store(loaded, {})
  }

  async #load(): Promise<Loaded> {
    if (this.#loaded !== undefined) return this.#loaded
    const tally = new Tally()
    const pages = await this.#session.read<{ page: number; rec: Buffer }>('SELECT page, rec FROM tally')
    for (const { page, rec } of pages) tally.load(page, rec)
    const [meta] = await this.#session.read<MetaColumns>('SELECT * FROM meta')
    this.#loaded = { tally, coverage: toMeta(meta).coverage }
    return this.#loaded
  }

  async #subtractAbove(tally: Tally, ancestor: number): Promise<void> {
    for (let above = ancestor; ; ) {
      const blocks = await this.#session.read<{ block: number; rows: Buffer | null }>(
        `SELECT block, (
           SELECT string_agg(address || int8send(tx_id), '') FROM unnest(addresses, tx_ids) AS party (address, tx_id)
         ) AS rows FROM undo WHERE block > $1 ORDER BY block LIMIT ${undoAtOnce}`,
        [above]
      )
      for (const { rows } of blocks) {
        for (let at = 0; rows !== null && at < rows.length; at += rowLength) {
          tally.subtract(rows, at, Number(rows.readBigInt64BE(at + addressLength)))
        }
      }
      if (blocks.length < undoAtOnce) return
      above = blocks.at(-1)?.block ?? above
    }
  }

  #store(loaded: Loaded, coverage: IndexCoverage): readonly string[] {
    const statements = [...coverageStatements(loaded.coverage, coverage), ...tallyStatements(loaded.tally)]
    loaded.coverage = coverage
    return statements
  }
}

function coverageStatements(before: IndexCoverage, now: IndexCoverage): readonly string[] {
  const { detailedFrom, tracedFrom, talliedFrom } = now
  const isSame =
    before.detailedFrom === detailedFrom &&
    before.tracedFrom === tracedFrom &&
    before.talliedFrom === talliedFrom
  if (isSame) return []
  return [
    `UPDATE meta SET detailed_from = ${detailedFrom ?? 'NULL'}, traced_from = ${tracedFrom ?? 'NULL'},
       tallied_from = ${talliedFrom ?? 'NULL'}`
  ]
}

/** All pages that have changed, in one statement. */
function tallyStatements(tally: Tally): readonly string[] {
  const pages = tally.takeChanged()
  if (pages.size === 0) return []
  return [
    `UPDATE tally SET rec = changed.rec
     FROM unnest('{${[...pages.keys()].join(',')}}'::smallint[], ${bytesArrayLiteral([...pages.values()])}) AS changed (page, rec)
     WHERE tally.page = changed.page`
  ]
}
