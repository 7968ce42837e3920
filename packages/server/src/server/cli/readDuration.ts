import { InvalidArgumentError } from 'commander'

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const longestMs = 36_500 * 86_400_000

/**
 * A span of time as an option gives it: `30s`, `15m`, `24h`, `7d`, or `0`; a hundred years at most.
 *
 * @returns milliseconds.
 * @throws {InvalidArgumentError} anything else.
 */
export function readDuration(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const ms = text === '0' ? 0 : Number(count || Number.NaN) * (unitMs[unit] ?? Number.NaN)
  if (!(ms <= longestMs)) throw new InvalidArgumentError('Expected a time such as 30m, 24h or 7d, or 0.')
  return ms
}

/**
 * As `readDuration`, for the life of a key, which has to have one.
 *
 * @throws {InvalidArgumentError} also for no time at all.
 */
export function readLifetime(text: string): number {
  const ms = readDuration(text)
  if (ms === 0) throw new InvalidArgumentError('Expected a time longer than 0, such as 24h or 90d.')
  return ms
}
