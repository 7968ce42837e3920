import { defaultMethodPrefix } from '@chain-data/protocol'
import type { ClientOptions, Int64Form } from './ClientOptions.ts'
import { need } from './errors.ts'
import { basicAuth, checkedAuth, type Sign } from './sign.ts'

/** The options, checked and completed. Lives in closures only: it holds the credentials. */
export interface Settings {
  /** Without a trailing slash. */
  readonly baseUrl: string
  /** Its scheme, host and port: what messages show of it, since a path may hold a key. */
  readonly origin: string
  /** Signs a request; asked before every attempt. */
  readonly sign: Sign
  readonly chainId: number | undefined
  readonly methodPrefix: string
  readonly timeoutMs: number
  readonly retries: number
  readonly maxDelayMs: number
  readonly maxResponseBytes: number
  readonly int64: Int64Form
}

const urlRules: readonly (readonly [allowed: RegExp, rule: string])[] = [
  [/^[^@\\?#]*$/, 'must not have a user, a query or a fragment'],
  [/^(https?:\/\/[^\s/]|\/(?!\/))\S*$/i, 'must begin with https:// and a host, without spaces'],
  [/^(?!.*\/(evm-chain|solana)\/*$)/i, 'must end before /evm-chain or /solana']
]

/** @throws {ConfigurationError} Names the option and what was expected; never shows a credential. */
export function readOptions(options: ClientOptions): Settings {
  const given = Object(options) as ClientOptions
  const { baseUrl, auth, projectId, serverKey, clientKey, int64 = 'number' } = given
  const { allowInsecureHttp, dangerouslyAllowBrowser, methodPrefix = defaultMethodPrefix } = given
  const url = `${baseUrl}`
  // By hand: React Native's URL lacks most of its members. The address is not shown: it may hold a password or a key.
  for (const [allowed, rule] of urlRules) need(allowed.test(url), `baseUrl ${rule}`)
  need(auth !== undefined || url[0] !== '/', 'baseUrl may be a path only with auth')
  need(
    allowInsecureHttp || !/^http:(?!\/\/(([^/]+\.)?localhost|127(\.\d+){3}|\[::1\])(:\d*)?(\/|$))/i.test(url),
    'baseUrl must be https beyond loopback, or set allowInsecureHttp',
    'INSECURE_BASE_URL'
  )
  need(typeof methodPrefix === 'string', 'methodPrefix must be a string')
  need(/^(number|string|bigint)$/.test(int64), 'int64 must be number, string or bigint')
  need(
    [serverKey, clientKey, auth].filter(way => way !== undefined).length === 1 &&
      (!auth || typeof auth === 'function'),
    'give one of serverKey, clientKey and auth (a function or false)'
  )
  // Pages and their workers.
  need(
    !serverKey || dangerouslyAllowBrowser || !('document' in globalThis || 'importScripts' in globalThis),
    'serverKey is public in a browser: give clientKey',
    'KEY_IN_BROWSER'
  )
  return {
    baseUrl: url.replace(/\/+$/, ''),
    origin: /^\w+:\/\/[^/]+/.exec(url)?.[0] ?? "the page's own origin",
    sign: auth === undefined ? basicAuth(projectId, serverKey ?? clientKey) : checkedAuth(auth),
    int64,
    methodPrefix,
    chainId: readNumber('chainId', 0, undefined, given),
    timeoutMs: readNumber('timeoutMs', 1, 30_000, given),
    retries: readNumber('retries', 0, 2, given),
    // Twice that is the longest a timer can wait; beyond it, it would fire at once.
    maxDelayMs: Math.min(readNumber('maxDelayMs', 0, 10_000, given), 2 ** 30),
    maxResponseBytes: readNumber('maxResponseBytes', 1, 2 ** 26, given)
  }
}

/**
 * One option that is a whole number; `Infinity` is one too, no bound at all, except for `chainId`.
 *
 * @param method - Of the call that the options are of; absent: of the client.
 * @throws {ConfigurationError} Not a whole number from `min`.
 */
export function readNumber<Name extends string, Fallback extends number | undefined>(
  name: Name,
  min: number,
  fallback: Fallback,
  options: { readonly [N in Name]?: number | undefined },
  method?: string
): number | Fallback {
  const { [name]: value = fallback } = options
  const isWhole = Number.isSafeInteger(value) || (value === Infinity && name !== 'chainId')
  need(
    value === undefined || (isWhole && value >= min),
    // A value of another type may be anything, a credential put in the wrong place too.
    `${name} must be a whole number from ${min}; got ${typeof value === 'number' ? value : `a ${typeof value}`}`,
    undefined,
    method
  )
  return value
}
