import { destination, pino } from 'pino'
import { scrubText } from './scrubText.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/**
 * Everything a log line may carry besides its message. It is an allow-list: a field that is not named here is
 * dropped at run time as well, so that no key, header or body can slip in through a spread object.
 */
export interface LogFields {
  readonly component?: string
  readonly requestId?: string
  readonly projectId?: string
  readonly method?: string
  readonly chainId?: number
  readonly status?: number
  readonly code?: number
  readonly reason?: string
  readonly durationMs?: number
  /** The server's own address; a node's is reduced to its origin. */
  readonly url?: string
  readonly phase?: string
  readonly head?: number
  readonly indexedTo?: number
  readonly blockNumber?: number
  readonly blockHash?: string
  readonly depth?: number
  readonly count?: number
  readonly attempt?: number
  readonly waitMs?: number
  readonly blocksPerSecond?: number
  readonly transactionsPerSecond?: number
  readonly etaSeconds?: number
  readonly problem?: string
  readonly signal?: string
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
