import { limits, type MethodName, methodFacts, wireName } from '@chain-data/protocol'
import { ConfigError } from '../../platform/errors.ts'
import { requireBasePath } from '../http/requestForm.ts'
import type { ProxyOptions } from './ProxyOptions.ts'

/** The options, checked and completed. */
export type ProxySettings = ReturnType<typeof readProxyOptions>

const defaultMethods: readonly MethodName[] = [
  'svc_getTransactionsByAddress',
  'svc_watchAddresses',
  'svc_getTokensAndNFTs',
  'enhancedGetTokensAndNFTs',
  'svc_getSyncStatus'
]
/** The longest time that a timer can wait. */
const longestMs = 2 ** 31 - 1
const loopback = /^(([^/]+\.)?localhost|127(\.\d+){3}|\[::1\])$/

/** @throws {ConfigError} Names the option and what was expected; never shows the key or the target. */
export function readProxyOptions(options: ProxyOptions) {
  const {
    projectId,
    serverKey,
    clientKey,
    basePath = '',
    methods = defaultMethods,
    methodPrefix,
    origins = [],
    hosts
  } = options
  const target = readTarget(options)
  need(
    isPrintable(projectId) && !projectId.includes(':'),
    'projectId',
    'text without colon and control characters'
  )
  need((serverKey === undefined) !== (clientKey === undefined), 'serverKey', 'this or clientKey')
  const key = serverKey ?? clientKey
  need(isPrintable(key), 'serverKey or clientKey', 'text without control characters')
  requireBasePath(basePath)
  for (const method of methods) need(Object.hasOwn(methodFacts, method), 'methods', 'names of the document')
  for (const origin of origins) need(isOrigin(origin), 'origins', 'origins such as "https://app.example"')
  need(hosts === undefined || (Array.isArray(hosts) && hosts.length > 0), 'hosts', 'one host at least')
  for (const host of hosts ?? [])
    need(isHost(host), 'hosts', 'hosts such as "app.example" or "10.0.0.5:3000"')
  return {
    /** Without a slash at its end. */
    target,
    authorization: `Basic ${Buffer.from(`${projectId}:${key}`).toString('base64')}`,
    /** The service judges by the page's origin, too. */
    sendsOrigin: clientKey !== undefined,
    basePath,
    /** Names on the wire. */
    methods: new Set(methods.map(method => wireName(method, methodPrefix))),
    origins: new Set(origins),
    hosts: hosts && new Set(hosts.map(host => host.toLowerCase())),
    bodyBytes: readNumber('bodyBytes', limits.bodyBytes, options),
    requestsInFlight: readNumber('requestsInFlight', 256, options),
    streams: readNumber('streams', 1_000, options),
    connectTimeoutMs: readNumber('connectTimeoutMs', 5_000, options),
    answerTimeoutMs: readNumber('answerTimeoutMs', 30_000, options),
    idleTimeoutMs: readNumber('idleTimeoutMs', 30_000, options)
  }
}

function readTarget({ target, allowInsecureHttp = false }: ProxyOptions): string {
  const isPlain =
    typeof target === 'string' && /^https?:\/\/[^\s?#@\\]+$/i.test(target) && URL.canParse(target)
  need(isPlain, 'target', 'a URL without user information, query and fragment')
  const path = new URL(target).pathname.replace(/\/+$/, '')
  need(!/\/(evm-chain|solana)$/.test(path), 'target', 'a URL without the endpoint at its end')
  const { protocol, hostname, origin } = new URL(target)
  need(
    protocol === 'https:' || allowInsecureHttp || loopback.test(hostname),
    'target',
    'https beyond loopback, or allowInsecureHttp'
  )
  return origin + path
}

function readNumber<Name extends keyof ProxyOptions>(
  name: Name,
  fallback: number,
  options: { readonly [N in Name]?: unknown }
): number {
  const value = options[name] ?? fallback
  need(
    typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= longestMs,
    name,
    `an integer from 1 to ${longestMs}`
  )
  return value
}

function isPrintable(text: unknown): text is string {
  return typeof text === 'string' && /^[^\p{Cc}]+$/u.test(text)
}

/** Returns whether a text is an origin as browsers write it. */
export function isOrigin(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text
}

function isHost(text: unknown): boolean {
  // Of the two, one drops the port.
  return ['http://', 'https://'].some(
    scheme =>
      typeof text === 'string' &&
      URL.canParse(scheme + text) &&
      new URL(scheme + text).host === text.toLowerCase()
  )
}

function need(met: boolean, option: string, expected: string): asserts met {
  if (!met) throw new ConfigError(`${option} of createProxyHandler: expected ${expected}`)
}
