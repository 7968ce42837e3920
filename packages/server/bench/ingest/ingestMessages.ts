/** What the bare reader is asked to do. */
export interface ReadOrder {
  readonly url: string
  readonly from: number
  readonly to: number
  /** Blocks under way at the same time. */
  readonly concurrency: number
  readonly way: 'fetch' | 'node:http'
}

/** What it found. */
export interface ReadFigures {
  readonly ms: number
  readonly transactions: number
  readonly bytes: number
  /** Processor time of all its threads. */
  readonly cpuMs: number
}

/** One backfill of a whole server. */
export interface IngestFigures {
  /** From the moment at which it knew what there is to fetch, until all of it was stored and it said so. */
  readonly backfillMs: number
  /** From the call that creates the server until then. */
  readonly wholeMs: number
  /** From the start of the process until it answered a history. */
  readonly firstAnswerMs: number
  /** Processor time of all its threads during the backfill. */
  readonly cpuMs: number
  /** The same by thread: the indexer's, the writer's, the main one, and all others (garbage collection, file system). Linux only. */
  readonly threadCpuMs?: Readonly<Record<string, number>>
  /** Processor time of the writer's thread from the same start until it has merged all runs that it merges in a pause. Linux only. */
  readonly writerWithMergesMs?: number
  /** Of its main thread during the backfill: how much later than due a timer came. */
  readonly loopDelayMs: { readonly p50: number; readonly p99: number; readonly most: number }
  /** Most of the process so far, and what it had when the backfill began. */
  readonly peakRssBytes: number
  readonly firstRssBytes: number
  /** Where the index stands. */
  readonly indexedTo: { readonly number: number; readonly hash: string }
}
