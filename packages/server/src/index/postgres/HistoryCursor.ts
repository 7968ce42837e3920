import type { AuditedChunk } from '../port/audit.ts'
import type { IdWindow, ReadWindows } from './readWindows.ts'

/** A stretch of a history as one statement gave it. */
export interface Stretch {
  readonly chunk: AuditedChunk
  /** How many rows of the address index it is of; not none. */
  readonly rows: number
  /** Id of the last of them. */
  readonly lastId: number
}

/** Asks for the newest `limit` rows of one address in a window. Absent: it has none there. */
export type AskStretch = (window: IdWindow, limit: number) => Promise<Stretch | undefined>

/** Walks down one history, window by window. One pull at a time. */
export class HistoryCursor {
  readonly #windows: ReadWindows
  readonly #ask: AskStretch
  #end: number
  #foundInWindow = 0

  constructor(windows: ReadWindows, ask: AskStretch) {
    this.#windows = windows
    this.#ask = ask
    this.#end = windows.window?.end ?? 0
  }

  /** What comes next; of fewer rows than `wanted` only where the history ends, nothing when it has ended. */
  async pull(wanted: number): Promise<Stretch | undefined> {
    const stretches: Stretch[] = []
    let count = 0
    while (count < wanted) {
      const { window } = this.#windows
      if (window === undefined) break
      const asked = wanted - count
      const stretch = await this.#ask({ ...window, end: this.#end }, asked)
      if (stretch !== undefined) stretches.push(stretch)
      const found = stretch?.rows ?? 0
      count += found
      this.#foundInWindow += found
      this.#end = stretch?.lastId ?? this.#end
      if (found === asked) continue
      this.#windows.advance(this.#foundInWindow)
      this.#foundInWindow = 0
      this.#end = this.#windows.window?.end ?? 0
    }
    return join(stretches)
  }
}

function join(stretches: readonly Stretch[]): Stretch | undefined {
  const [first] = stretches
  const last = stretches.at(-1)
  if (first === undefined || last === undefined || stretches.length === 1) return first
  const chunks = stretches.map(({ chunk }) => chunk)
  return {
    chunk: {
      ids: chunks.flatMap(({ ids }) => ids),
      bytes: Buffer.concat(chunks.map(({ bytes }) => bytes)),
      missing: chunks.flatMap(({ missing }) => missing)
    },
    rows: stretches.reduce((sum, { rows }) => sum + rows, 0),
    lastId: last.lastId
  }
}
