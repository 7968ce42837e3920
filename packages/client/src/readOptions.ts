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
  const {
    int64 = 'number',
    methodPrefix = defaultMethodPrefix,
    timeoutMs = 30_000,
    retries = 2
  } = options ?? {}
  const { chainId, maxDelayMs = 10_000, maxResponseBytes = 2 ** 26 } = options ?? {}
  need(typeof methodPrefix === 'string', 'methodPrefix must be a string')
  need(/^(number|string|bigint)$/.test(int64), 'int64 must be number, string or bigint')
  if (chainId !== undefined) checkNumber('chainId', chainId)
  checkNumber('timeoutMs', timeoutMs, 1)
  checkNumber('retries', retries, 0)
  checkNumber('maxDelayMs', maxDelayMs, 0)
  checkNumber('maxResponseBytes', maxResponseBytes, 1)
  return {
    baseUrl: readBaseUrl(options ?? {}),
    ...readCredentials(options),
    ...{ chainId, methodPrefix, timeoutMs, retries, maxResponseBytes, int64 },
    // Twice that is the longest a timer can wait; beyond it, it would fire at once.
    maxDelayMs: Math.min(maxDelayMs, 2 ** 30)
  }
}

/**
 * @param min - With one, `Infinity` is a number too: no bound at all.
 * @throws {ConfigurationError} Not a whole number from `min`.
 */
export function checkNumber(name: string, value: number, min?: number): void {
  const fits = Number.isSafeInteger(value) || (min !== undefined && value === Number.POSITIVE_INFINITY)
  // A value of the wrong type may be anything, a credential put in the wrong place too.
  const found = typeof value === 'number' ? value : `a ${typeof value}`
  need(
    fits && !(value < (min ?? value)),
    `${name} must be a whole number${min === undefined ? '' : ` from ${min}`}, not ${found}`
  )
}

function readCredentials(options: ClientOptions): Pick<Settings, 'auth' | 'secrets'> {
  const { auth, projectId, serverKey, clientKey, dangerouslyAllowBrowser } = options
  const keys = [auth, serverKey, clientKey].filter(way => way !== undefined)
  need(
    keys.length === 1 && (!auth || typeof auth === 'function'),
    'give one of serverKey, clientKey and auth (a function or false)'
  )
  if (auth !== undefined) return { auth: auth || {}, secrets: [] }
  // Pages and their workers.
  if (serverKey && !dangerouslyAllowBrowser && ('document' in globalThis || 'importScripts' in globalThis)) {
    throw configurationError('KEY_IN_BROWSER', 'serverKey is public in a browser: give clientKey')
  }
  const key = keys[0] as string
  const Authorization = basicAuthorization(projectId, key)
  return { auth: { Authorization }, secrets: [Authorization.slice(6), key] }
}

// By hand: React Native's URL lacks most of its members.
function readBaseUrl({ baseUrl, auth, allowInsecureHttp }: Partial<ClientOptions>): string {
  const url = `${baseUrl}`
  // The address itself is not shown: it may hold a password.
  need(
    (auth === undefined ? /^https?:/i : /^https?:|^\/(?!\/)/i).test(url) &&
      /^(\w+:\/\/[^/]+)?(\/.*)?$/.test(url) &&
      !/[\s?#@\\]|\/(evm-chain|solana)\/*$/.test(url),
    'baseUrl must be a URL without user information, query, fragment and endpoint'
  )
  if (
    !allowInsecureHttp &&
    /^http:(?!\/\/((.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d*)?(\/|$))/i.test(url)
  ) {
    throw configurationError(
      'INSECURE_BASE_URL',
      'baseUrl must be https beyond loopback, or set allowInsecureHttp'
    )
  }
  return url.replace(/\/+$/, '')
}

function need(met: unknown, message: string): asserts met {
  if (!met) throw configurationError('INVALID_OPTION', message)
}
