/** What callers have met. */
export class Tally {
  readonly #counts: Record<string, number> = {}
  readonly #wrong: string[] = []

  /** One exchange of a kind and how it ended, as `page 200`. */
  count(kind: string, outcome: string | number): void {
    const name = `${kind} ${outcome}`
    this.#counts[name] = (this.#counts[name] ?? 0) + 1
  }

  /** Something that must never happen. */
  wrong(what: string): void {
    this.#wrong.push(what.slice(0, 300))
  }

  /** Whatever an abuse was: the server must not have failed over it. */
  checkAbused(kind: string, status: number, text: string): void {
    this.count(kind, status)
    if (status === 500 || text.includes('"reason":"INTERNAL"')) this.wrong(`${kind}: ${status} ${text}`)
  }

  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(Object.entries(this.#counts).sort())
  }

  get wrongs(): readonly string[] {
    return this.#wrong
  }
}
