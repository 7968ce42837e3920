import type { ReadStatements } from './read.ts'
import type { ReadConnection } from './readConnection.ts'

/** Transaction ids from `from` up to, but not with, `end`. */
export interface IdWindow {
  readonly from: number
  readonly end: number
  /** Spans many partitions, each of which is locked by who reads it. */
  readonly isWide: boolean
}

/** How the large tables are cut, as far as one connection has seen it. */
export interface Partitions {
  /** First id of each, ascending. */
  readonly starts: readonly number[]
  /** Where the newest one ends. */
  readonly end: number
}

/** Partitions that the first window spans: the newest one may just have been begun. */
const firstSpan = 2
const widestSpan = 16
/** After a window in which so much was found, the next one spans one partition: that is quickest where records lie close. */
const manyFound = 1_024

/**
 * A history, cut into windows of whole partitions, newest first, so that a statement only opens those that it needs. As long
 * as little is found each window spans twice as many as the one before, up to a bound: of an address with a short history all
 * partitions are searched in few round trips.
 *
 * The windows have no gap, whatever is known of the partitions: one that is not known yet is in the window of its neighbour.
 */
export class ReadWindows {
  readonly #starts: readonly number[]
  #span = firstSpan
  #window: IdWindow | undefined

  /**
   * @param end - only ids below it are wanted.
   * @param endOfNewest - nothing is expected at or above it: partitions are made ahead.
   */
  constructor({ starts }: Partitions, end: number, endOfNewest: number) {
    this.#starts = starts.filter(start => start < endOfNewest)
    if (end > 0) this.#open(end)
  }

  /** Absent once everything has been searched. */
  get window(): IdWindow | undefined {
    return this.#window
  }

  /** Goes on to the next one. @param found - how many records there were in this one. */
  advance(found: number): void {
    const { from } = this.#window ?? { from: 0 }
    this.#window = undefined
    this.#span = found >= manyFound ? 1 : Math.min(this.#span * 2, widestSpan)
    if (from > 0) this.#open(from)
  }

  #open(end: number): void {
    const newest = this.#starts.findLastIndex(start => start < end)
    const oldest = newest - this.#span + 1
    // Nothing is stored below the first one, and nothing may be left out.
    const from = oldest <= 0 ? 0 : (this.#starts[oldest] ?? 0)
    this.#window = { from, end, isWide: this.#span > firstSpan }
  }
}

/** Reads how the tables are cut. Partitions come and never go, so what was read stays true and may lack the newest. */
export async function readPartitions(
  connection: ReadConnection,
  statements: ReadStatements
): Promise<Partitions> {
  const rows = await connection.ask(statements.partitions, [])
  const bounds = rows.map(({ bound }) => toBounds(String(bound))).sort((a, b) => a.from - b.from)
  return { starts: bounds.map(({ from }) => from), end: bounds.at(-1)?.end ?? 0 }
}

function toBounds(bound: string): Pick<IdWindow, 'from' | 'end'> {
  const [, from = 0, end = Number.MAX_SAFE_INTEGER] =
    /FROM \('(\d+)'\) TO \((?:'(\d+)'|MAXVALUE)\)/.exec(bound) ?? []
  return { from: Number(from), end: Number(end) }
}
