import { destination, pino } from 'pino'
import { scrubText } from './scrubText.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/**
 * Everything a log line may carry besides its message. It is an allow-list: a field that is not named here is
 * dropped at run time as well, so that no key, header or body can slip in through a spread object.
 */
export interface LogFields {
  /** The part of the server that speaks. */
  readonly component?: string
  /** Of the answer: the `x-request-id` that the caller saw. */
  readonly requestId?: string
  /** The caller. */
  readonly projectId?: string
  /** The HTTP method of a request, or the name of the method that was called. */
  readonly method?: string
  /** The chain it is about. */
  readonly chainId?: number
  /** HTTP status. */
  readonly status?: number
  /** JSON-RPC error code. */
  readonly code?: number
  /** Stable name of an error case. */
  readonly reason?: string
  /** Milliseconds of the request or call; of a stream, until it began. */
  readonly durationMs?: number
  /** The server's own address; a node's is reduced to its origin. */
  readonly url?: string
  /** The chain's phase, as in `status()`. */
  readonly phase?: string
  /** Newest block the node has named. */
  readonly head?: number
  /** Last indexed block. */
  readonly indexedTo?: number
  /** The block it is about. */
  readonly blockNumber?: number
  /** The block's hash. */
  readonly blockHash?: string
  /** How many blocks a reorg removed. */
  readonly depth?: number
  /** How many of what the message names. */
  readonly count?: number
  /** Which attempt it was, from 1. */
  readonly attempt?: number
  /** Milliseconds until the next attempt. */
  readonly waitMs?: number
  /** Speed of the index. */
  readonly blocksPerSecond?: number
  /** Speed of the index. */
  readonly transactionsPerSecond?: number
  /** Seconds until the index reaches the head at this speed. */
  readonly etaSeconds?: number
  /** Why something does not move. */
  readonly problem?: string
  /** The signal that ends the process. */
  readonly signal?: string
  /** Version of the server. */
  readonly version?: string
  /** Written as name, message and stack, each scrubbed. */
  readonly error?: unknown
}

const allowedFields: ReadonlySet<string> = new Set<keyof LogFields>([
  'component',
  'requestId',
  'projectId',
  'method',
  'chainId',
  'status',
  'code',
  'reason',
  'durationMs',
  'url',
  'phase',
  'head',
  'indexedTo',
  'blockNumber',
  'blockHash',
  'depth',
  'count',
  'attempt',
  'waitMs',
  'blocksPerSecond',
  'transactionsPerSecond',
  'etaSeconds',
  'problem',
  'signal',
  'version',
  'error'
])

/** Structured log, one JSON object per line. */
export interface Logger {
  /** Detail for whoever looks for a fault, such as one line per call. */
  debug(message: string, fields?: LogFields): void
  /** Progress, when all is well. */
  info(message: string, fields?: LogFields): void
  /** Something outside failed; the server goes on by itself. */
  warn(message: string, fields?: LogFields): void
  /** Somebody should look. */
  error(message: string, fields?: LogFields): void
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger
}

const longestText = 4_000

function toLoggable(value: unknown): unknown {
  if (value instanceof Error) {
    const cause = value.cause instanceof Error ? { cause: toLoggable(value.cause) } : {}
    return {
      name: value.name,
      message: scrubText(value.message, longestText),
      stack: scrubText(value.stack ?? '', longestText),
      ...cause
    }
  }
  if (typeof value === 'string') return scrubText(value, longestText)
  if (typeof value === 'number' || typeof value === 'boolean') return value
  return scrubText(String(value), longestText)
}

function pickAllowed(fields: LogFields): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && allowedFields.has(name)) picked[name] = toLoggable(value)
  }
  return picked
}

/**
 * Creates the server's logger.
 *
 * @param options.write - receives each line; absent: standard output.
 * @remarks URLs are cut to their origin and credentials are removed from every text, messages included.
 */
export function createLogger(options: {
  readonly level: LogLevel
  readonly write?: (line: string) => void
}): Logger {
  const { level, write } = options
  const sink = write === undefined ? destination({ fd: 1, sync: true }) : { write }
  const root = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, sink)
  return wrap({})

  function wrap(bound: Record<string, unknown>): Logger {
    const at = (severity: 'debug' | 'info' | 'warn' | 'error') => (message: string, fields?: LogFields) => {
      if (!root.isLevelEnabled(severity)) return
      root[severity]({ ...bound, ...(fields && pickAllowed(fields)) }, scrubText(message, longestText))
    }
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: fields => wrap({ ...bound, ...pickAllowed(fields) })
    }
  }
}

/** A logger that writes nothing. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger
}
