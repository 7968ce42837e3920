import type { CheckYield } from '../../platform/concurrency/pause.ts'

/** A piece of JSON text: from `start` up to, not including, `end`. */
export interface Extent {
  readonly start: number
  readonly end: number
}

/** The text is no JSON at this level, or not of the kind that was expected. */
export class JsonRefusal extends Error {
  constructor(expected: string, at: number) {
    super(`expected ${expected} at character ${at}`)
    this.name = 'JsonRefusal'
  }
}

/** A long text whose pieces are found here; each goes through a JSON parser later, so nothing unlawful passes. */
export interface JsonText {
  readonly text: string
  /** Lets other work run during the search through long values. */
  readonly checkYield: CheckYield
}

const SPACE = /[ \t\n\r]*/y
/** Matches a number, `true`, `false` or `null` up to its end. */
const SCALAR = /[^\s,\]}]+/y
const MARK = /["{}[\]]/g

export interface Members {
  readonly members: ReadonlyMap<string, Extent>
  /** The position after the closing brace. */
  readonly end: number
}

/**
 * The members of the object that begins at `start`, by name. Their values are not parsed yet.
 *
 * @throws {JsonRefusal} no object, or one name twice: readers would differ in which of the two counts.
 */
export async function findMembers({ text, checkYield }: JsonText, start: number): Promise<Members> {
  const members = new Map<string, Extent>()
  let at = expectCharacter(text, start, '{')
  if (text[at] === '}') return { members, end: at + 1 }
  for (;;) {
    if (text[at] !== '"') throw new JsonRefusal('a name', at)
    const nameEnd = endOfString(text, at)
    const name = JSON.parse(text.slice(at, nameEnd)) as string
    if (members.has(name)) throw new JsonRefusal('each name once', at)
    const valueStart = expectCharacter(text, skipSpace(text, nameEnd), ':')
    const end = await findEnd(text, valueStart, checkYield)
    members.set(name, { start: valueStart, end })
    at = skipSpace(text, end)
    if (text[at] === '}') return { members, end: at + 1 }
    at = expectCharacter(text, at, ',')
  }
}

/**
 * The elements of the array that begins at `start`, one after the other.
 *
 * @throws {JsonRefusal} no array.
 */
export async function* findElements({ text, checkYield }: JsonText, start: number): AsyncGenerator<Extent> {
  let at = expectCharacter(text, start, '[')
  if (text[at] === ']') return
  for (;;) {
    const end = await findEnd(text, at, checkYield)
    yield { start: at, end }
    at = skipSpace(text, end)
    if (text[at] === ']') return
    at = expectCharacter(text, at, ',')
  }
}

/** Finds the end of the value that begins at `start`, by its brackets and quotes alone. */
async function findEnd(text: string, start: number, checkYield: CheckYield): Promise<number> {
  const first = text[start]
  if (first === '"') return endOfString(text, start)
  if (first !== '{' && first !== '[') {
    SCALAR.lastIndex = start
    if (!SCALAR.test(text)) throw new JsonRefusal('a value', start)
    return SCALAR.lastIndex
  }
  let depth = 0
  let at = start
  for (;;) {
    const pause = checkYield()
    if (pause !== undefined) await pause
    MARK.lastIndex = at
    const mark = MARK.exec(text)
    if (mark === null) throw new JsonRefusal('the end of a value', text.length)
    at = mark.index
    const character = mark[0]
    if (character === '"') {
      at = endOfString(text, at)
      continue
    }
    at++
    depth += character === '{' || character === '[' ? 1 : -1
    if (depth === 0) return at
  }
}

/** Returns the position after the closing quote. Base64 and addresses hold no backslash, so most strings are one search. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  for (;;) {
    const quote = text.indexOf('"', at)
    if (quote < 0) throw new JsonRefusal('the end of a string', text.length)
    let slashes = 0
    while (text[quote - 1 - slashes] === '\\') slashes++
    at = quote + 1
    if (slashes % 2 === 0) return at
  }
}

/** Returns the position where the next value or sign begins. */
export function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at
  SPACE.test(text)
  return SPACE.lastIndex
}

/** Returns the position after this character and the space that follows. */
function expectCharacter(text: string, at: number, character: string): number {
  if (text[at] !== character) throw new JsonRefusal(`"${character}"`, at)
  return skipSpace(text, at + 1)
}
