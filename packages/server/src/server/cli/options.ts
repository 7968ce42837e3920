import { InvalidArgumentError } from 'commander'
import { keyNameSchema, originSchema, projectIdSchema } from '../config/projectsSchema.ts'

// Each reads the value of an option or argument, and throws InvalidArgumentError for what it cannot be.

/** A key under a name that no configuration takes would be a key for nothing. */
export function readProjectId(text: string): string {
  if (projectIdSchema.safeParse(text).success) return text
  throw new InvalidArgumentError('Expected 1 to 128 characters without a colon or control characters.')
}

/** Adds an origin to those of the same option before it. */
export function readOrigins(text: string, before: readonly string[] = []): readonly string[] {
  if (!originSchema.safeParse(text).success) {
    throw new InvalidArgumentError(
      'Expected scheme, host and port with nothing behind them, in lower case, such as https://dapp.example.'
    )
  }
  return before.includes(text) ? before : [...before, text]
}

export function readName(text: string): string {
  if (keyNameSchema.safeParse(text).success) return text
  throw new InvalidArgumentError('Expected 1 to 64 characters without control characters.')
}

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const maxDurationMs = 36_500 * 86_400_000

/** Reads a span of time in milliseconds: `30s`, `15m`, `24h`, `7d`, or `0`; a hundred years at most. */
export function readDuration(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const ms = text === '0' ? 0 : Number(count || Number.NaN) * (unitMs[unit] ?? Number.NaN)
  if (ms <= maxDurationMs) return ms
  throw new InvalidArgumentError('Expected a time such as 30m, 24h or 7d, or 0.')
}

/** Reads the life of a key, which has to have one. */
export function readLifetime(text: string): number {
  const ms = readDuration(text)
  if (ms > 0) return ms
  throw new InvalidArgumentError('Expected a time longer than 0, such as 24h or 90d.')
}

export function readChainId(text: string): number {
  const chainId = Number(text)
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(chainId)) return chainId
  throw new InvalidArgumentError('Expected an integer from 0 to 2^53-1, such as 1.')
}

export function readPort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port > 0 && port < 65_536) return port
  throw new InvalidArgumentError('Expected an integer from 1 to 65535, such as 8080.')
}

export function readAddress(text: string): string {
  if (/^0x[\da-f]{40}$/i.test(text)) return text
  throw new InvalidArgumentError('Expected 0x and 40 digits of hex.')
}

/** Adds an account to those before it. */
export function readAddresses(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, readAddress(text)]
}

/** Reads the URL of a server, without slashes at its end. */
export function readServerUrl(text: string): string {
  const url = text.replace(/\/+$/, '')
  const isServer = /^https?:\/\/[^\s?#@\\]+$/i.test(url) && !/\/(evm-chain|solana)$/.test(url)
  if (isServer && URL.canParse(url)) return url
  throw new InvalidArgumentError(
    'Expected http or https without user information, query, fragment and endpoint, such as https://rpc.example.com.'
  )
}
