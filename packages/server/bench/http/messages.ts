/** What the generator is asked to do. */
export interface LoadOrder {
  /** Of the server; every request is a POST to /evm-chain. */
  readonly url: string
  /** Request bodies, taken in turn. */
  readonly bodies: readonly string[]
  /**
   * `closed`: each of the connections asks again as soon as it has its answer. `open`: requests are due at fixed moments
   * whatever the server does, and wait where all connections are busy; impatient ones are not sent then and counted as
   * `unsent`, as by callers that have a bound of their own. `once`: each connection asks once; what is measured
   * begins with that and ends with the last answer.
   */
  readonly arrivals:
    | { readonly kind: 'closed' | 'once' }
    | { readonly kind: 'open'; readonly perSecond: number; readonly isImpatient?: boolean }
  readonly connections: number
  /** Not counted: until caches and compiled code are as they stay. */
  readonly warmUpMs: number
  readonly measureMs: number
}

/** What became of the requests of one order that were due in the measured time. */
export interface LoadFigures {
  /** Answers with status 200 a second. */
  readonly perSecond: number
  readonly bytesPerSecond: number
  /** Of any status, warm-up included. */
  readonly answers: number
  /** Of answers with status 200, from the moment the request was due to its last byte. */
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly most: number }
  /** Answers by status; `cut`: the connection ended instead; `unsent`: there was no connection. */
  readonly outcomes: Readonly<Record<string, number>>
  /** Part of one core that the generator itself used. */
  readonly generatorLoad: number
}

/** Callers that ask and never read a byte. */
export interface UnreadOrder {
  readonly url: string
  readonly body: string
  readonly connections: number
}

/** What a server child tells once it listens. */
export interface Listening {
  readonly url: string
}

/** What a server child has used, asked for with the message `usage`. */
export interface Usage {
  /** Processor time of all its threads since it began. */
  readonly cpuMs: number
  readonly rssBytes: number
  readonly heapBytes: number
  /** Buffers outside the heap. */
  readonly externalBytes: number
}

/** Credentials that both servers' requests carry. */
export const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`
