/** Facts for the log and for `error.data`; never a secret, a URL, SQL or a stack. */
export type ErrorContext = Readonly<Record<string, string | number | boolean | readonly number[] | undefined>>

/**
 * Base of everything that the index and the server throw on purpose. Classes differ by what the caller can do about it; the
 * server's `rpc/toWireError` is the one place that turns them into wire codes.
 */
export abstract class ChainDataError extends Error {
  /** The same call may succeed later without any change. */
  abstract readonly retryable: boolean
  /** The facts behind the message; never a secret. */
  readonly context: ErrorContext

  /** `message` names the thing, the value and what was expected; `context` holds the facts for the log. */
  constructor(message: string, context: ErrorContext = {}, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.name = new.target.name
    this.context = context
  }
}

/** Returns the code of an error of the system or of a library, such as `ENOENT`, or of its cause; `undefined` where it has none. */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  return 'code' in error && error.code !== undefined ? String(error.code) : codeOf(error.cause)
}

/** Codes that say that the process, or the system, has no file descriptor left. */
export const noDescriptorCodes: readonly unknown[] = ['EMFILE', 'ENFILE']

/** What an engine knows of the cause of a `StoreError`, in the `fault` of its context. */
export const storeFaults = {
  /** A disk or its quota is full. */
  fullDisk: 'fullDisk',
  /** The database itself has found a page that is not what was written. */
  damagedPage: 'damagedPage'
} as const

/** The store refused: wrong chain, newer schema, broken order, disk trouble. */
export class StoreError extends ChainDataError {
  readonly retryable: boolean = false
}

/**
 * The store's server is away for the moment: it does not answer, restarts, or another one takes its place. What was being
 * written is stored as a whole or not at all.
 */
export class StoreUnavailableError extends StoreError {
  override readonly retryable = true
}

/**
 * The file, folder or schema of an index was deleted, replaced or made read-only while it was in use. Nothing is written until
 * the original is back. The message is a sentence for callers and operators, with the next step.
 */
export class StoreLostError extends StoreUnavailableError {}

/** A part of a chain's index that is not what was written. */
export interface Damage {
  readonly part: keyof typeof damageableParts
  /** The block that it belongs to; absent where it names none. */
  readonly block?: number
  /** Where a chunk is missing or altered: its run, the number of its section, and its number there. */
  readonly run?: number
  readonly section?: number
  readonly chunk?: number
}

/** Parts of an index that have checksums, and what the log calls them. */
const damageableParts = {
  record: 'a record',
  block: 'the row',
  event: 'account events',
  undo: 'a hash that a reorg removed',
  poolEntry: 'a pool entry',
  report: "the writer's report",
  change: 'the log of changes',
  chunk: 'a chunk',
  manifest: 'the manifest',
  meta: 'the meta row',
  file: 'the file'
}

/** Words damage by its part and where it is, such as `a record of block 7`. */
export function describeDamage({ part, block, run, section, chunk }: Damage): string {
  if (run !== undefined) return `${damageableParts[part]} (run ${run}, section ${section}, number ${chunk})`
  return block === undefined ? damageableParts[part] : `${damageableParts[part]} of block ${block}`
}

/** A read met {@link Damage}: nothing is answered from it. The same call may succeed once the block is replaced. */
export class IndexDamagedError extends StoreError {
  override readonly retryable = true
  readonly damage: Damage

  /** @param detail - what is wrong with the part, for the log. */
  constructor(damage: Damage, detail: string) {
    super(`the index is damaged: ${describeDamage(damage)}: ${detail}`, { ...damage })
    this.damage = damage
  }
}

/** Returns the damage that an error reports. @throws every other error. */
export function damageOf(error: unknown): Damage {
  if (error instanceof IndexDamagedError) return error.damage
  throw error
}

/** Returns what is read; absent where it is damaged. */
export async function unlessDamaged<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read
  } catch (error) {
    damageOf(error)
    return undefined
  }
}
