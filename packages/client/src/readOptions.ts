import { defaultMethodPrefix } from '@chain-data/protocol'
import { basicAuthorization } from './basicAuthorization.ts'
import type { AuthProvider, ClientOptions, Int64Form } from './ClientOptions.ts'
import { configurationError } from './errors.ts'

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
  need(options, 'createClient needs an object with baseUrl')
  const { chainId, int64 = 'number', methodPrefix = defaultMethodPrefix } = options
  need(typeof methodPrefix === 'string', 'methodPrefix must be a string')
  need(/^(number|string|bigint)$/.test(int64), "int64 must be 'number', 'string' or 'bigint'")
  return {
    baseUrl: readBaseUrl(options),
    ...readCredentials(options),
    chainId: chainId === undefined ? chainId : checkNumber('chainId', chainId),
    methodPrefix,
    timeoutMs: checkNumber('timeoutMs', options.timeoutMs ?? 30_000, 1, Number.POSITIVE_INFINITY),
    retries: checkNumber('retries', options.retries ?? 2, 0),
    maxDelayMs: checkNumber('maxDelayMs', options.maxDelayMs ?? 10_000, 0),
    maxResponseBytes: checkNumber('maxResponseBytes', options.maxResponseBytes ?? 2 ** 26, 1),
    int64
  }
}

/**
 * @param max - `Infinity` admits no bound at all.
 * @throws {ConfigurationError} Not a whole number within these bounds.
 */
export function checkNumber(
  name: string,
  value: number,
  min = Number.MIN_SAFE_INTEGER,
  max = Number.MAX_SAFE_INTEGER
): number {
  if ((Number.isSafeInteger(value) || value === max) && value >= min) return value
  // A value of the wrong type may be anything, a credential put in the wrong place too.
  const found = typeof value === 'number' ? value : `a value of type ${typeof value}`
  throw invalid(`${name} must be a whole number from ${min} to ${max}, not ${found}`)
}

function readCredentials(options: ClientOptions): Pick<Settings, 'auth' | 'secrets'> {
  const { auth, projectId, serverKey, clientKey, dangerouslyAllowBrowser } = options
  const ways = [auth, serverKey, clientKey].filter(way => way !== undefined)
  need(ways.length === 1, 'give one of serverKey, clientKey and auth')
  if (auth !== undefined) {
    need(!auth || typeof auth === 'function', 'auth must be a function or false')
    return { auth: auth || {}, secrets: [] }
  }
  // Pages and their workers.
  if (serverKey && !dangerouslyAllowBrowser && ('document' in globalThis || 'importScripts' in globalThis)) {
    throw configurationError(
      'KEY_IN_BROWSER',
      'serverKey would be public in a browser: give clientKey, or set dangerouslyAllowBrowser'
    )
  }
  const key = (serverKey ?? clientKey) as string
  const Authorization = basicAuthorization(projectId, key)
  return { auth: { Authorization }, secrets: [Authorization.slice(6), key] }
}

// By hand: React Native's URL lacks most of its members.
function readBaseUrl({ baseUrl, auth, allowInsecureHttp }: ClientOptions): string {
  const [, scheme, host = '', path = ''] =
    /^(?:(https?:)\/\/([^\s/?#@\\]+))?((?!\/\/)\/[^\s?#\\]*)?$/i.exec(baseUrl) ?? []
  // The address itself is not shown: it may hold a password.
  need(
    (scheme || (path && auth !== undefined)) && !/\/(evm-chain|solana)\/*$/.test(path),
    'baseUrl must be an absolute URL without user information, query, fragment and endpoint'
  )
  if (
    /^http:/i.test(baseUrl) &&
    !allowInsecureHttp &&
    !/^((.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d*)?$/i.test(host)
  ) {
    throw configurationError(
      'INSECURE_BASE_URL',
      'baseUrl is plain http beyond loopback: use https, or set allowInsecureHttp'
    )
  }
  return baseUrl.replace(/\/+$/, '')
}

function need(met: unknown, message: string): asserts met {
  if (!met) throw invalid(message)
}

function invalid(message: string) {
  return configurationError('INVALID_OPTION', message)
}
