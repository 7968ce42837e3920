import { networkInterfaces } from 'node:os'
import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import type { Config } from '../config/config.ts'
import { listen } from '../http/listen.ts'
import { isPublicAddress } from '../metadata/publicAddress.ts'
import { resolveLocalHost } from '../metadata/resolveHost.ts'
import { isKeyDigest } from '../projects/keyDigest.ts'
import type { ServerAnswer } from './askServer.ts'
import { type Finding, failure, ok, type PlacedFinding, placeFindings, warning } from './findings.ts'

/** Whether this Node.js can run the server. @param version - as `process.versions.node` has it. */
export function checkNodeVersion(version: string): Finding {
  const wanted = packageFile.engines.node.replace(/^>=/, '')
  // Numbers in a text are compared as such.
  const isNewEnough = version.localeCompare(wanted, 'en', { numeric: true }) >= 0
  if (isNewEnough) return ok('version', `Node ${version}`)
  return failure('version', `Node ${version}`, `install Node ${wanted} or newer`)
}

/**
 * What works and is not for production, or not what was meant: nothing has to be asked for it.
 *
 * @param unknownVariables - names of the environment that nothing reads.
 */
export function checkSettings(
  config: Config,
  unknownVariables: readonly string[] = []
): readonly PlacedFinding[] {
  const findings: PlacedFinding[] = []
  const warn = (place: string, check: string, found: string, advice: string) =>
    findings.push(...placeFindings(place, [warning(check, found, advice)]))
  for (const name of unknownVariables) {
    const found = `${name.slice(0, 100)} is read by nothing`
    warn('environment', 'variable', found, 'see serve --help for the names')
  }
  for (const [index, project] of config.projects.entries()) {
    if (!serverKeysOf(project).every(isKeyDigest)) {
      const advice = 'put a digest there: chain-data project create makes a key with one'
      warn(`projects[${index}]`, 'key', 'a server key is plain text', advice)
    }
  }
  if (config.rateLimit === false) {
    warn('rateLimit', 'quota', 'projects may call without limit', 'set one before strangers may call')
  }
  if (config.metadata.allowHosts.length > 0) {
    const advice = 'take it out in production: whoever mints a token may have these hosts asked'
    warn('metadata.allowHosts', 'guard', 'private hosts may be fetched from', advice)
  }
  if (config.log.level === 'debug') {
    warn('log.level', 'log', 'a line is written for every call', 'set info in production')
  }
  return findings
}

function serverKeysOf({ serverKey, serverKeys }: Config['projects'][number]): readonly string[] {
  const listed = serverKeys.map(entry => (typeof entry === 'string' ? entry : entry.key))
  return serverKey === null ? listed : [serverKey, ...listed]
}

/** Nodes whose answers, and keys, cross the internet for everyone to read. */
export async function checkTransport({ chains }: Config): Promise<readonly PlacedFinding[]> {
  const urls = [
    ...chains.evm.flatMap(({ rpcUrls, wsUrls }, index) => [
      ...placed(rpcUrls, `chains.evm[${index}].rpcUrls`),
      ...placed(wsUrls, `chains.evm[${index}].wsUrls`)
    ]),
    ...chains.solana.flatMap(({ rpcUrls, dasUrl }, index) => [
      ...placed(rpcUrls, `chains.solana[${index}].rpcUrls`),
      ...(dasUrl === null ? [] : [{ place: `chains.solana[${index}].dasUrl`, url: dasUrl }])
    ])
  ]
  const found = await Promise.all(
    urls.map(async ({ place, url }) => {
      const { protocol, hostname } = new URL(url)
      if (protocol === 'https:' || protocol === 'wss:') return []
      const host = hostname.replace(/^\[|\]$/g, '')
      const addresses = await resolveLocalHost(host, AbortSignal.timeout(5_000)).catch(() => [])
      if (!addresses.some(isPublicAddress)) return []
      const advice = 'take an https:// or wss:// address: anyone on the way can read and change what is said'
      return placeFindings(place, [warning('tls', 'without TLS to a public address', advice)], url)
    })
  )
  return found.flat()
}

function placed(urls: readonly string[], key: string): readonly { place: string; url: string }[] {
  return urls.map((url, index) => ({ place: `${key}[${index}]`, url }))
}

/**
 * Whether the server can listen where it is told to, or does already.
 *
 * @param answer - what was found there.
 * @param addresses - of this machine.
 */
export async function checkListen(
  { listen: { host, port }, limits }: Config,
  answer: ServerAnswer,
  addresses: readonly string[] = ownAddresses()
): Promise<readonly Finding[]> {
  const check = 'address'
  const tlsAdvice = 'listen on a private address and put a proxy with TLS before it'
  const open = isOpen(host, addresses)
    ? [warning('tls', 'a public address, where plain HTTP is spoken', tlsAdvice)]
    : []
  if (answer.kind === 'report') {
    return [ok(check, `${host}:${port}, a chain-data server answers there`), ...open]
  }
  try {
    const listener = await listen({
      handler: (_, response) => response.end(),
      host,
      port,
      headerBytes: limits.headerBytes,
      socketIdleMs: 1_000
    })
    await listener.close(0)
    return [ok(check, `${host}:${port} is free`), ...open]
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown trouble'
    const advice =
      code === 'EADDRINUSE'
        ? 'another program has it: end that, or set listen.port'
        : 'set listen.host to an address of this machine, and a port that this user may open'
    return [failure(check, `${host}:${port} cannot be listened on (${code})`, advice), ...open]
  }
}

function isOpen(host: string, addresses: readonly string[]): boolean {
  const isEverywhere = host === '0.0.0.0' || host === '::'
  return isEverywhere ? addresses.some(isPublicAddress) : isPublicAddress(host)
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap(infos => infos?.map(({ address }) => address) ?? [])
}
