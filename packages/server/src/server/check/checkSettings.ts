import { networkInterfaces } from 'node:os'
import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import { type NodeEndpoint, urlOf } from '../../model/nodeEndpoint.ts'
import { ConfigError, codeOf } from '../../platform/errors.ts'
import type { Config } from '../config/config.ts'
import { listen } from '../http/listen.ts'
import { resolveLocalHost } from '../metadata/dialAddress.ts'
import { isPublicAddress } from '../metadata/publicAddress.ts'
import { isKeyDigest } from '../projects/keyDigest.ts'
import { readProjectsFile, toKeptProject } from '../projects/projectsFile.ts'
import { describeWeakKey, findExposure, findWeakKeys, isLoopback } from '../projects/requireStrongKeys.ts'
import type { ServerAnswer } from './askServer.ts'
import { type Finding, failure, listEach, ok, type PlacedFinding, runLooks, warning } from './findings.ts'

const dayMs = 86_400_000
const soonMs = 7 * dayMs
const lookupTimeoutMs = 5_000

/** Checks that this Node.js can run the server. @param version - as `process.versions.node` has it. */
export function checkNodeVersion(version: string): Finding {
  const wanted = packageFile.engines.node.replace(/^>=/, '')
  // Numbers in a text are compared as such.
  const isNewEnough = version.localeCompare(wanted, 'en', { numeric: true }) >= 0
  if (isNewEnough) return ok('version', `Node ${version}`)
  return failure('version', `Node ${version}`, `install Node ${wanted} or newer`)
}

/**
 * Checks the settings for what works and is not for production, or not what was meant: nothing has to be asked for it.
 *
 * @param unknownVariables - names of the environment that nothing reads.
 */
export function checkSettings(
  config: Config,
  unknownVariables: readonly string[] = []
): readonly PlacedFinding[] {
  const findings: PlacedFinding[] = []
  const warn = (place: string, check: string, found: string, advice: string) =>
    findings.push({ place, ...warning(check, found, advice) })
  for (const name of unknownVariables) {
    warn(
      'environment',
      'variable',
      `${name.slice(0, 100)} is read by nothing`,
      'see serve --help for the names'
    )
  }
  for (const [index, project] of config.projects.entries()) {
    if (toKeptProject(project).keys.some(({ kind, key }) => kind === 'server' && !isKeyDigest(key))) {
      const advice = 'put a digest there: chain-data project create makes a key with one'
      warn(`projects[${index}]`, 'key', 'a server key is plain text', advice)
    }
  }
  const exposure = findExposure(config.listen)
  if (exposure !== undefined) {
    for (const weak of findWeakKeys(config.projects)) {
      const { found, advice } = describeWeakKey(weak)
      findings.push({
        place: 'projects',
        ...failure('key', `${found}, and ${exposure.setting}`, `${advice}, ${exposure.alternative}`)
      })
    }
  }
  const { host, operator } = config.listen
  const hasPages = config.pages.status || config.pages.metrics
  if (hasPages && !isLoopback(operator === 'main' ? host : operator.host)) {
    const advice =
      'let a proxy or a firewall hide them, or set listen.operator to an address that only operators reach'
    warn('listen.operator', 'pages', 'the status page and /metrics can be read from outside', advice)
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

/**
 * Checks that somebody may call, by the configuration or the projects file, and which keys are about to end.
 *
 * @param nowMs - milliseconds since the Unix epoch.
 */
export async function checkProjects(
  { projects, projectsFile }: Config,
  nowMs = Date.now()
): Promise<readonly PlacedFinding[]> {
  const configured = projects.flatMap((project, index) =>
    endingKeys(project, nowMs).map(finding => ({ place: `projects[${index}]`, ...finding }))
  )
  const ofFile = (finding: Finding) => ({ place: 'projectsFile', ...finding })
  if (projectsFile === null) {
    if (projects.length > 0) return configured
    const advice = 'add one, or name a projectsFile; a program may bring its own with verifyProject'
    return [{ place: 'projects', ...failure('projects', 'there is no project, so nobody may call', advice) }]
  }
  try {
    const kept = await readProjectsFile(projectsFile)
    const found = `${kept.length} ${kept.length === 1 ? 'project' : 'projects'} in the file`
    const ending = kept.flatMap(project => endingKeys(project, nowMs))
    return [...configured, ...[ok('projects', found), ...ending].map(ofFile)]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const advice = 'the server does not start without it: mend it, or make it with chain-data project create'
    return [...configured, ofFile(failure('projects', error.message, advice))]
  }
}

function endingKeys(project: Config['projects'][number], nowMs: number): readonly Finding[] {
  const { projectId, keys } = toKeptProject(project)
  return keys.flatMap(({ kind, id, name, expiresAt }): readonly Finding[] => {
    const leftMs = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - nowMs
    if (leftMs > soonMs) return []
    const which = `a ${kind} key of "${projectId}" (${name ?? id ?? 'without a name'})`
    const found =
      leftMs <= 0 ? `${which} has ended` : `${which} ends in ${Math.ceil(leftMs / dayMs)} days or less`
    const advice =
      leftMs <= 0 ? 'take it out' : 'see that its callers have a new one: chain-data project rotate'
    return [warning('key', found, advice)]
  })
}

/** Finds nodes whose answers, and keys, cross the internet for everyone to read. */
export async function checkTransport({ chains }: Config): Promise<readonly PlacedFinding[]> {
  const check = async (endpoint: NodeEndpoint): Promise<readonly Finding[]> => {
    const { protocol, hostname } = new URL(urlOf(endpoint))
    if (protocol === 'https:' || protocol === 'wss:') return []
    const host = hostname.replace(/^\[|\]$/g, '')
    const addresses = await resolveLocalHost(host, AbortSignal.timeout(lookupTimeoutMs)).catch(() => [])
    if (!addresses.some(isPublicAddress)) return []
    const advice = 'take an https:// or wss:// address: anyone on the way can read and change what is said'
    return [warning('tls', 'without TLS to a public address', advice)]
  }
  const looks = [
    ...chains.evm.flatMap(({ rpcUrls, wsUrls }, index) => [
      ...listEach(rpcUrls, `chains.evm[${index}].rpcUrls`, check),
      ...listEach(wsUrls, `chains.evm[${index}].wsUrls`, check)
    ]),
    ...chains.solana.flatMap(({ rpcUrls, dasUrl }, index) => [
      ...listEach(rpcUrls, `chains.solana[${index}].rpcUrls`, check),
      ...(dasUrl === null
        ? []
        : [{ place: `chains.solana[${index}].dasUrl`, url: dasUrl, run: () => check(dasUrl) }])
    ])
  ]
  return runLooks(looks, { timeoutMs: lookupTimeoutMs })
}

/**
 * Checks that the server can listen where it is told to, or does already.
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
    const code = codeOf(error) ?? 'unknown trouble'
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
