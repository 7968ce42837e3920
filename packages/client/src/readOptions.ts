import { defaultMethodPrefix } from '@chain-data/protocol'
import { basicAuthorization } from './basicAuthorization.ts'
import type { ClientOptions } from './ClientOptions.ts'
import { ConfigurationError } from './errors.ts'
import { createRedactor, type Redact } from './redact.ts'

const defaultTimeoutMs = 30_000
const defaultMaxResponseBytes = 64 * 1024 * 1024
// Beyond it, timers of every runtime fire at once instead of never.
const longestTimerMs = 2 ** 31 - 1

/** The options, checked and completed. Lives in closures only: it holds the credentials. */
export interface Settings {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly authorization: string
  readonly redact: Redact
  readonly chainId: number | undefined
  readonly methodPrefix: string
  readonly timeoutMs: number
  readonly maxResponseBytes: number
}

/** @throws {ConfigurationError} Names the option and what was expected; never shows a credential. */
export function readOptions(options: ClientOptions): Settings {
  if (typeof options !== 'object' || options === null) {
    throw invalid('createClient needs an object with baseUrl, projectId and serverKey')
  }
  const { projectId, serverKey, chainId, methodPrefix = defaultMethodPrefix } = options
  const { timeoutMs = defaultTimeoutMs, maxResponseBytes = defaultMaxResponseBytes } = options
  if (typeof methodPrefix !== 'string') throw invalid('methodPrefix must be a string')
  if (!(Number.isSafeInteger(maxResponseBytes) && maxResponseBytes > 0)) {
    throw invalid('maxResponseBytes must be a whole number above 0')
  }
  const authorization = basicAuthorization(projectId, serverKey)
  return {
    baseUrl: readBaseUrl(options.baseUrl, options.allowInsecureHttp === true),
    authorization,
    redact: createRedactor([authorization.slice('Basic '.length), serverKey]),
    chainId: chainId === undefined ? undefined : checkChainId(chainId),
    methodPrefix,
    timeoutMs: checkTimeout(timeoutMs),
    maxResponseBytes
  }
}

/** @throws {ConfigurationError} Not a chain id. */
export function checkChainId(chainId: number): number {
  if (Number.isSafeInteger(chainId)) return chainId
  throw invalid(`chainId must be a whole number, not ${describe(chainId)}`)
}

/** @throws {ConfigurationError} Not a time a timer can wait. */
export function checkTimeout(timeoutMs: number): number {
  if (timeoutMs === Number.POSITIVE_INFINITY) return timeoutMs
  if (typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= longestTimerMs) return timeoutMs
  throw invalid(
    `timeoutMs must be above 0 and at most ${longestTimerMs}, or Infinity, not ${describe(timeoutMs)}`
  )
}

function readBaseUrl(baseUrl: string, allowInsecureHttp: boolean): string {
  let url: URL
  try {
    url = new URL(baseUrl)
  } catch {
    throw invalid('baseUrl must be an absolute URL such as https://rpc.example.com')
  }
  const { protocol, hostname, origin, pathname } = url
  // The address itself is not shown from here on: it may hold a password.
  if (url.username !== '' || url.password !== '') {
    throw invalid('baseUrl must not contain user information; give projectId and serverKey instead')
  }
  if (url.search !== '' || url.hash !== '') throw invalid('baseUrl must not contain a query or a fragment')
  if (protocol !== 'https:' && protocol !== 'http:')
    throw invalid('baseUrl must begin with https:// or http://')
  const endpoint = /\/(?:evm-chain|solana)\/*$/.exec(pathname)?.[0]
  if (endpoint !== undefined) {
    throw invalid(`baseUrl must not end in ${endpoint}: the client adds the endpoint of each method`)
  }
  if (protocol === 'http:' && !isLoopback(hostname) && !allowInsecureHttp) {
    throw new ConfigurationError(
      'INSECURE_BASE_URL',
      `baseUrl would send the key unencrypted to ${hostname}; use https, or set allowInsecureHttp: true`
    )
  }
  return origin + pathname.replace(/\/+$/, '')
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    isLoopbackV4(hostname)
  )
}

function isLoopbackV4(hostname: string): boolean {
  return /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

// A value of the wrong type may be anything, a credential put in the wrong place too.
function describe(value: unknown): string {
  return typeof value === 'number' ? String(value) : `a value of type ${typeof value}`
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError('INVALID_OPTION', message)
}
