import type { IndexDamagedError } from '@chain-data/index'
import type { MethodHandlers } from '@chain-data/protocol'
import type { AnswerCoverage } from '../../model/coverage.ts'

/** The context of a call; its params are already checked against the spec. */
export interface MethodContext {
  /** A chain that the called endpoint serves; absent only for methods that need none. */
  readonly chainId?: number | undefined
  /** Whose call it is. Absent: there is only one caller. */
  readonly projectId?: string | undefined
  /** When the request came, as `performance.now()` has it; the answer shows what was known then, or later. Absent: now. */
  readonly cameMs?: number
  /** Aborts when the caller is gone or the deadline has passed. */
  readonly signal: AbortSignal
  /** `Date.now()` at which the call gives up. */
  readonly deadlineMs: number
  /** Waits until the call may have more work done; awaited between two parts of a long read. Absent: it need not wait. */
  readonly pause?: (() => Promise<unknown> | undefined) | undefined
  /** Called with what the answer covers, before its first byte; the response has it in a header. */
  readonly onCoverage?: (coverage: AnswerCoverage) => void
  /** Called with the cursor of the answer, before its first byte; the response has it in a header. */
  readonly onCursor?: (cursor: string) => void
  /** Of a stream of events, the id of the last one that its caller has. */
  readonly lastEventId?: string | undefined
  /** Called with damage of the index that the answer names in place of failing. */
  readonly onDamage?: (damage: IndexDamagedError) => void
}

type Implemented = MethodHandlers<MethodContext, ResultStream | ResultText>
type History = Implemented['svc_getTransactionsByAddress']

/** The server's implementation of the methods of the spec; `rpc.discover` needs none. A kept page is there without a wait. */
export type Handlers = Omit<
  Implemented,
  'rpc.discover' | 'svc_watchAddresses' | 'svc_getTransactionsByAddress'
> & {
  readonly svc_getTransactionsByAddress: (...call: Parameters<History>) => ResultText | ReturnType<History>
} & Pick<MethodHandlers<MethodContext, ResultEvents>, 'svc_watchAddresses'>

/**
 * The parts of the chain that a call is about.
 *
 * @throws {Error} a bug: only chains that an endpoint serves get as far as a method.
 */
export function chainOf<Chain>(chains: ReadonlyMap<number, Chain>, { chainId }: MethodContext): Chain {
  const chain = chainId === undefined ? undefined : chains.get(chainId)
  if (chain === undefined) throw new Error(`no parts for chain ${chainId}`)
  return chain
}

/**
 * Returns how long one call may still wait for metadata, in milliseconds. Where nodes were slow, documents are done without rather
 * than waited for until the whole call has failed.
 *
 * @param metadataWaitMs - the longest wait of any call.
 * @param deadlineMs - `Date.now()` by which the call must be answered.
 */
export function metadataBudget(metadataWaitMs: number, deadlineMs: number): number {
  return Math.min(metadataWaitMs, Math.max(0, (deadlineMs - Date.now()) / 2))
}

/** Some elements of a result: the values, or their JSON text with commas between them, where that was made already. */
export type ResultChunk = readonly unknown[] | string

/**
 * A result too long to hold: the elements of a JSON array, in chunks. Its receiver must call `close` in
 * the end, also when it was never read, because it holds a view of the store open.
 */
export class ResultStream {
  readonly chunks: AsyncIterable<ResultChunk>
  /** JSON text around the array, where it is a member of an object. */
  readonly around: { readonly before: string; readonly after: string }
  readonly #release: () => Promise<void>
  #released: Promise<void> | undefined

  constructor(
    chunks: AsyncIterable<ResultChunk>,
    release: () => Promise<void>,
    around = { before: '', after: '' }
  ) {
    this.chunks = chunks
    this.around = around
    this.#release = release
  }

  /** Releases what the stream holds; a second call waits for the first. */
  close(): Promise<void> {
    this.#released ??= this.#release()
    return this.#released
  }
}

/** A result that is kept: the JSON text of the elements of an array, with commas between them, in ASCII. */
export class ResultText {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

/** A result without an end: texts of Server-Sent Events, as they come. Its receiver must call `return` in the end. */
export class ResultEvents {
  readonly texts: ResultEventTexts

  constructor(texts: ResultEventTexts) {
    this.texts = texts
  }
}

interface ResultEventTexts extends AsyncIterator<string, undefined> {
  return(): Promise<IteratorResult<string, undefined>>
}
