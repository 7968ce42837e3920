import { writeSync } from 'node:fs'
import { codeOf } from '@chain-data/index'
import type { Waiver } from '../model/waivableChecks.ts'
import { scrubText } from './scrubText.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

const textFields = [
  /** The part of the server that speaks. */
  'component',
  /** The `x-request-id` that the caller saw in the answer. */
  'requestId',
  /** The caller. */
  'projectId',
  /** The HTTP method of a request, or the name of the method that was called. */
  'method',
  /** Stable name of an error case. */
  'reason',
  /** The server's own address; a node's is reduced to its origin. */
  'url',
  /** The chain's phase, as in `status()`. */
  'phase',
  'blockHash',
  /** The reason why something does not move. */
  'problem',
  /** The signal that ends the process. */
  'signal',
  /** Version of the server. */
  'version',
  /** Name of a chain. */
  'name',
  /** Whether the preset of a chain is applied. */
  'preset',
  /** Parts of blocks that are held against their headers. */
  'verified',
  /** Checks that blocks of a chain may break, with heights, reasons and sources. */
  'waivers'
] as const

const numberFields = [
  'chainId',
  /** HTTP status. */
  'status',
  /** JSON-RPC error code. */
  'code',
  /** Milliseconds of the request or call; of a stream, until it began. */
  'durationMs',
  /** Newest block the node has named. */
  'head',
  /** First indexed block. */
  'indexedFrom',
  /** Lowest block that is to be indexed. */
  'startBlock',
  /** Last indexed block. */
  'indexedTo',
  'blockNumber',
  /** Number of blocks that a reorg removed. */
  'depth',
  /** Number of what the message names. */
  'count',
  /** The attempt, from 1. */
  'attempt',
  /** Milliseconds until the next attempt. */
  'waitMs',
  'blocksPerSecond',
  'transactionsPerSecond',
  /** Seconds until the index reaches the head at this speed. */
  'etaSeconds'
] as const

/**
 * Everything a log line may carry besides its message. It is an allow-list: a field that is not named here is
 * dropped at run time as well, so that no key, header or body can slip in through a spread object.
 */
export type LogFields = { readonly [Name in (typeof textFields)[number]]?: string } & {
  readonly [Name in (typeof numberFields)[number]]?: number
} & {
  /** Written as name, message and stack, each scrubbed. */
  readonly error?: unknown
  /** Waivers that would let a block pass, as the configuration takes them. */
  readonly suggestedWaivers?: readonly Waiver[]
}

const allowedFields: ReadonlySet<string> = new Set([...textFields, ...numberFields, 'error'])

/** Structured log, one JSON object per line. */
export interface Logger {
  /** Detail for finding a fault, such as one line per call. */
  debug(message: string, fields?: LogFields): void
  /** Progress, when all is well. */
  info(message: string, fields?: LogFields): void
  /** Something outside failed; the server goes on by itself. */
  warn(message: string, fields?: LogFields): void
  /** An operator should look at it. */
  error(message: string, fields?: LogFields): void
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger
}

const maxTextLength = 4_000
const pauseMs = 10
/** Never woken: for waiting without giving way to other work. */
const pause = new Int32Array(new SharedArrayBuffer(4))

function toLoggable(value: unknown): unknown {
  if (value instanceof Error) {
    const cause = value.cause instanceof Error ? { cause: toLoggable(value.cause) } : {}
    return {
      name: value.name,
      message: scrubText(value.message, maxTextLength),
      stack: scrubText(value.stack ?? '', maxTextLength),
      ...cause
    }
  }
  if (typeof value === 'string') return scrubText(value, maxTextLength)
  if (typeof value === 'number' || typeof value === 'boolean') return value
  return scrubText(String(value), maxTextLength)
}

function pickAllowed(fields: LogFields): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && allowedFields.has(name)) picked[name] = toLoggable(value)
  }
  const { suggestedWaivers } = fields
  if (suggestedWaivers !== undefined) {
    picked.suggestedWaivers = suggestedWaivers.map(({ check, reason, fromBlock, toBlock }) => ({
      ...{ check, reason: scrubText(reason, maxTextLength), fromBlock, toBlock }
    }))
  }
  return picked
}

/** Numbers of the levels, in steps that other loggers of Node use, too. */
const severities = { debug: 20, info: 30, warn: 40, error: 50, silent: Infinity } as const

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
  const { level, write = writeToStdout } = options
  return wrap({})

  function wrap(bound: Record<string, unknown>): Logger {
    const at = (severity: 'debug' | 'info' | 'warn' | 'error') => (message: string, fields?: LogFields) => {
      if (severities[severity] < severities[level]) return
      const head = { level: severities[severity], time: new Date().toISOString() }
      const msg = scrubText(message, maxTextLength)
      write(`${JSON.stringify({ ...head, ...bound, ...(fields && pickAllowed(fields)), msg })}\n`)
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

/**
 * Writes a line to standard output before it returns: a process that exits next loses none. A line that cannot be written
 * is dropped, because a log without a reader must not end the server.
 */
function writeToStdout(line: string): void {
  let rest: Uint8Array = Buffer.from(line)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') return
      // A full pipe that is non-blocking.
      Atomics.wait(pause, 0, 0, pauseMs)
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
