import { readFileSync, writeFileSync } from 'node:fs'

/** What was measured, by the figure's name. */
export type Figures = Readonly<Record<string, number>>

/** What the ledger says of one figure. */
interface Entry {
  /** The figure may be so large; lines in hundreds. */
  readonly limit: number
  /** Where it should get to; a figure below is not held to less. */
  readonly aim?: number
  /** Why the limit was raised, as long as it is above `from`. */
  readonly raised?: { readonly from: number; readonly why: string }
}

/** Entries by the figure's name. */
export type Entries = Readonly<Record<string, Entry>>

/** The two halves can be measured apart. */
export type Ledger = Readonly<Record<'sizes' | 'walks', Entries>>

const file = new URL('ledger.json', import.meta.url)

export function readLedger(): Ledger {
  return JSON.parse(readFileSync(file, 'utf8')) as Ledger
}

export function writeLedger(ledger: Ledger): void {
  const halves = Object.entries(ledger).map(([half, entries]) => {
    const lines = Object.entries(entries).map(
      ([name, entry]) => `    ${inOneLine(name)}: ${inOneLine(entry)}`
    )
    return `  ${inOneLine(half)}: {\n${lines.join(',\n')}\n  }`
  })
  writeFileSync(file, `{\n${halves.join(',\n')}\n}\n`)
}

/** JSON with spaces where the formatter wants them. */
function inOneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${inOneLine(inner)}`)
  return `{ ${members.join(', ')} }`
}

/**
 * Functions are only printed, because how many there are differs by one or two from run to run; generated lines, because they
 * follow the document.
 */
const isHeld = (name: string) => !/, (functions|of these lines generated)$/.test(name)

/** Returns what is wrong with the figures, a sentence each. */
export function compare(figures: Figures, entries: Entries): string[] {
  return [
    ...Object.entries(figures).flatMap(([name, value]) => {
      if (!isHeld(name)) return []
      const entry = entries[name]
      if (entry === undefined) return [`"${name}" is not in the ledger`]
      if (value > entry.limit) return [`"${name}" is ${value}; the ledger allows ${entry.limit}`]
      return entry.raised?.why === '' ? [`"${name}" was raised without a reason`] : []
    }),
    ...Object.keys(entries)
      .filter(name => figures[name] === undefined)
      .map(name => `"${name}" is in the ledger, but not measured any more`)
  ]
}

/**
 * Takes the figures into the ledger.
 *
 * @param why - the reason for each figure that has grown.
 * @throws {Error} when a figure has grown and there is no reason.
 */
export function update(figures: Figures, entries: Entries, why: string): Entries {
  return Object.fromEntries(
    Object.entries(figures)
      .filter(([name]) => isHeld(name))
      .map(([name, value]) => [name, updated(name, value, entries[name], why)])
  )
}

function updated(name: string, value: number, entry: Entry | undefined, why: string): Entry {
  const limit = Math.max(entry?.aim ?? 0, rounded(name, value))
  const aim = entry?.aim === undefined ? {} : { aim: entry.aim }
  if (entry === undefined) return { limit }
  const { from, why: before } = entry.raised ?? { from: entry.limit, why: '' }
  if (limit <= from) return { limit, ...aim }
  if (limit <= entry.limit) return { limit, ...aim, raised: { from, why: before } }
  if (why === '') throw new Error(`"${name}" has grown from ${entry.limit} to ${limit}: give the reason`)
  return { limit, ...aim, raised: { from, why: before === '' ? why : `${before}; ${why}` } }
}

/** A few lines more are no growth. */
const rounded = (name: string, value: number) =>
  name.endsWith(', lines') ? Math.ceil((value + 50) / 100) * 100 : value
