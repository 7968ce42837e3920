import { inspect } from 'node:util'
import type { CacheLog } from '../src/caches/CacheLog.ts'

/** A log that gives each line as JSON: the message as `msg`, and all that can be seen of the error. */
export function recordLog(write: (line: string) => void): CacheLog {
  const log: CacheLog['warn'] = (msg, { chainId, error } = {}) =>
    write(JSON.stringify({ msg, chainId, error: error === undefined ? undefined : inspect(error) }))
  return { info: log, warn: log }
}

export const silentLog: CacheLog = { info() {}, warn() {} }
