import { networkInterfaces } from 'node:os'
import { codeOf } from '@chain-data/index'
import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import { ConfigError } from '../../platform/errors.ts'
import { resolveLocalHost } from '../../platform/network/dialAddress.ts'
import { isPublicAddress } from '../../platform/network/publicAddress.ts'
import { plural } from '../../platform/plural.ts'
import type { Config } from '../config/config.ts'
import { listen } from '../http/listen.ts'
import { isKeyDigest } from '../projects/keyDigest.ts'
import { readProjectsFile, toKeptProject } from '../projects/projectsFile.ts'
import { describeWeakKey, findExposure, findWeakKeys, isLoopback } from '../projects/requireStrongKeys.ts'
import type { ServerAnswer } from './askServer.ts'
import { type Findings, judge } from './findings.ts'

const lookupTimeoutMs = 5_000

/** Checks that this Node.js can run the server. @param version - as `process.versions.node` has it. */
export function checkNodeVersion(version: string): Findings {
  const wanted = packageFile.engines.node.replace(/^>=/, '')
  // Numbers in a text are compared as such.
  return judge`
    version | ok | ${version.localeCompare(wanted, 'en', { numeric: true }) >= 0} | Node ${version}
    version | error | | Node ${version} | install Node ${wanted} or newer
  `
}

/** Checks the settings for what works and is not for production, or not what was meant: nothing has to be asked for it. */
export function checkSettings(config: Config, unknownVariables: readonly string[] = []): Findings {
  const { projects, pages, rateLimit, metadata, log } = config
  const { host, operator } = config.listen
  const exposure = findExposure(config.listen)
  const isShown = (pages.status || pages.metrics) && !isLoopback(operator === 'main' ? host : operator.host)
  return [
    ...unknownVariables.flatMap(name => {
      return judge`environment: variable | warning | | ${name.slice(0, 100)} is read by nothing | see serve --help for the names`
    }),
    ...projects.flatMap((project, at) => {
      const { keys } = toKeptProject(project)
      const isPlain = keys.some(({ kind, key }) => kind === 'server' && !isKeyDigest(key))
      return judge`projects[${at}]: key | warning | ${isPlain} | a server key is plain text | put a digest there: chain-data project create makes a key with one`
    }),
    ...(exposure === undefined ? [] : findWeakKeys(projects)).flatMap(weak => {
      const { found, advice } = describeWeakKey(weak)
      return judge`projects: key | error | | ${found}, and ${exposure?.setting} | ${advice}, ${exposure?.alternative}`
    }),
    ...judge`
      listen.operator: pages | warning | ${isShown} | the status page and /metrics can be read from outside | let a proxy or a firewall hide them, or set listen.operator to an address that only operators reach
      rateLimit: quota | warning | ${rateLimit === false} | projects may call without limit | set one before strangers may call
      metadata.allowHosts: guard | warning | ${metadata.allowHosts.length > 0} | private hosts may be fetched from | take it out in production: whoever mints a token may have these hosts asked
      log.level: log | warning | ${log.level === 'debug'} | a line is written for every call | set info in production
    `
  ]
}

/** Checks that somebody may call, by the configuration or the projects file. */
export async function checkProjects({ projects, projectsFile }: Config): Promise<Findings> {
  if (projectsFile === null)
    return judge`projects | error | ${projects.length === 0} | there is no project, so nobody may call | add one, or name a projectsFile; a program may bring its own with verifyProject`
  try {
    const { length } = await readProjectsFile(projectsFile)
    return judge`projectsFile: projects | ok | | ${plural(length, 'project')} in the file`
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return judge`projectsFile: projects | error | | ${error.message} | the server does not start without it: mend it, or make it with chain-data project create`
  }
}

/** Checks that what is said with a node, keys too, does not cross the internet for everyone to read. */
export async function checkTls(url: string): Promise<Findings> {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:' || protocol === 'wss:') return []
  const host = hostname.replace(/^\[|\]$/g, '')
  const addresses = await resolveLocalHost(host, AbortSignal.timeout(lookupTimeoutMs)).catch(() => [])
  return judge`tls | warning | ${addresses.some(isPublicAddress)} | without TLS to a public address | take an https:// or wss:// address: anyone on the way can read and change what is said`
}

/** Checks that the server can listen where it is told to, or does already. @param addresses - of this machine. */
export async function checkListen(
  { listen: { host, port } }: Config,
  answer: ServerAnswer,
  addresses = Object.values(networkInterfaces()).flatMap(infos => infos?.map(({ address }) => address) ?? [])
): Promise<Findings> {
  const isServed = answer.kind === 'report'
  const isPublic =
    host === '0.0.0.0' || host === '::' ? addresses.some(isPublicAddress) : isPublicAddress(host)
  const code = isServed ? undefined : await tryListen(host, port)
  return judge`
    address | ok | ${isServed} | ${host}:${port}, a chain-data server answers there
    address | ok | ${code === undefined} | ${host}:${port} is free
    address | error | | ${host}:${port} cannot be listened on (${code}) | ${code === 'EADDRINUSE' ? 'another program has it: end that, or set listen.port' : 'set listen.host to an address of this machine, and a port that this user may open'}
    tls | warning | ${isPublic} | a public address, where plain HTTP is spoken | listen on a private address and put a proxy with TLS before it
  `
}

/** Returns why an address cannot be listened on; `undefined` where it can. */
export async function tryListen(host: string, port: number): Promise<string | undefined> {
  try {
    const bounds = { headerBytes: 16_384, socketIdleMs: 1_000 }
    await (await listen({ handler: (_, response) => response.end(), host, port, ...bounds })).close(0)
    return undefined
  } catch (error) {
    return codeOf(error) ?? 'unknown trouble'
  }
}
