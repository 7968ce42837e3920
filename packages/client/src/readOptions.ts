import { defaultMethodPrefix } from '@chain-data/protocol'
import { basicAuthorization } from './basicAuthorization.ts'
import type { AuthProvider, ClientOptions, Int64Form } from './ClientOptions.ts'
import { ConfigurationError } from './errors.ts'

// Beyond it, timers of every runtime fire at once instead of never.
const longestTimerMs = 2 ** 31 - 1

/** The options, checked and completed. Lives in closures only: it holds the credentials. */
export interface Settings {
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** What signs a request: the headers, or who gives them. */
  readonly auth: Readonly<Record<string, string>> | AuthProvider
  readonly secrets: readonly string[]
  readonly chainId: number | undefined
  readonly methodPrefix: string
  readonly timeoutMs: number
  readonly retries: number
  readonly maxDelayMs: number
  readonly maxResponseBytes: number
  readonly int64: Int64Form
}

/** @throws {ConfigurationError} Names the option and what was expected; never shows a credential. */
export function readOptions(options: ClientOptions): Settings {
  need(
    typeof options === 'object' && options !== null,
    'createClient needs an object with baseUrl and projectId'
  )
  const { chainId, int64 = 'number', methodPrefix = defaultMethodPrefix } = options
  const { maxResponseBytes = 2 ** 26, maxDelayMs = 10_000 } = options
  need(typeof methodPrefix === 'string', 'methodPrefix must be a string')
  need(['number', 'string', 'bigint'].includes(int64), "int64 must be 'number', 'string' or 'bigint'")
  need(isWhole(maxResponseBytes) && maxResponseBytes > 0, 'maxResponseBytes must be a whole number above 0')
  need(maxDelayMs >= 0 && maxDelayMs <= longestTimerMs, `maxDelayMs must be 0 to ${longestTimerMs}`)
  return {
    baseUrl: readBaseUrl(options),
    ...readCredentials(options),
    chainId: chainId === undefined ? chainId : checkChainId(chainId),
    methodPrefix,
    timeoutMs: checkTimeout(options.timeoutMs ?? 30_000),
    retries: checkRetries(options.retries ?? 2),
    maxDelayMs,
    maxResponseBytes,
    int64
  }
}

/** @throws {ConfigurationError} Not a chain id. */
export function checkChainId(chainId: number): number {
  need(isWhole(chainId), `chainId must be a whole number, not ${describe(chainId)}`)
  return chainId
}

/** @throws {ConfigurationError} Not a time a timer can wait. */
export function checkTimeout(timeoutMs: number): number {
  need(
    timeoutMs === Number.POSITIVE_INFINITY ||
      (typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= longestTimerMs),
    `timeoutMs must be above 0 and at most ${longestTimerMs}, or Infinity, not ${describe(timeoutMs)}`
  )
  return timeoutMs
}

/** @throws {ConfigurationError} Not a number of attempts. */
export function checkRetries(retries: number): number {
  need(isWhole(retries) && retries >= 0, `retries must be a whole number from 0, not ${describe(retries)}`)
  return retries
}

function readCredentials(options: ClientOptions): Pick<Settings, 'auth' | 'secrets'> {
  const { auth, projectId, serverKey, clientKey, dangerouslyAllowBrowser } = options
  need(
    [auth, serverKey, clientKey].filter(way => way !== undefined).length === 1,
    'give exactly one of serverKey, clientKey and auth'
  )
  if (auth === false) return { auth: {}, secrets: [] }
  if (auth !== undefined) {
    need(typeof auth === 'function', 'auth must be a function that gives headers, or false')
    return { auth, secrets: [] }
  }
  if (serverKey !== undefined && !dangerouslyAllowBrowser && isBrowser()) {
    throw new ConfigurationError(
      'KEY_IN_BROWSER',
      'serverKey would be public in a browser; give a clientKey, or set dangerouslyAllowBrowser: true'
    )
  }
  const key = serverKey ?? clientKey
  const Authorization = basicAuthorization(
    projectId,
    key,
    serverKey === undefined ? 'clientKey' : 'serverKey'
  )
  return { auth: { Authorization }, secrets: [Authorization.slice(6), key] }
}

/** Pages and their workers. */
function isBrowser(): boolean {
  return 'document' in globalThis || 'importScripts' in globalThis
}

// By hand: React Native's URL lacks most of its members.
function readBaseUrl({ baseUrl: given, auth, allowInsecureHttp }: ClientOptions): string {
  const baseUrl = String(given)
  const [, scheme, host = '', path = ''] =
    /^(?:(https?):\/\/([^\s/?#@\\]+))?(\/[^\s?#\\]*)?$/i.exec(baseUrl) ?? []
  // The address itself is not shown: it may hold a password.
  need(
    scheme ?? (path && !path.startsWith('//') && auth !== undefined),
    'baseUrl must be an absolute URL such as https://rpc.example.com, without user information, query and fragment'
  )
  need(
    !/\/(evm-chain|solana)\/*$/.test(path),
    'baseUrl must not end in /evm-chain or /solana: the client adds the endpoint of each method'
  )
  if (scheme?.length === 4 && !allowInsecureHttp && !isLoopback(host)) {
    throw new ConfigurationError(
      'INSECURE_BASE_URL',
      'baseUrl is plain http and not loopback; use https, or set allowInsecureHttp: true'
    )
  }
  return baseUrl.replace(/\/+$/, '')
}

function isLoopback(host: string): boolean {
  return /^((.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d*)?$/i.test(host)
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value)
}

// A value of the wrong type may be anything, a credential put in the wrong place too.
function describe(value: unknown): string {
  return typeof value === 'number' ? String(value) : `a value of type ${typeof value}`
}

function need(met: unknown, message: string): asserts met {
  if (!met) throw new ConfigurationError('INVALID_OPTION', message)
}
