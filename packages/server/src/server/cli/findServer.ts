import { reachable } from '../check/askServer.ts'
import { type Config, loadConfig } from '../config/config.ts'
import { isKeyDigest } from '../projects/keyDigest.ts'
import { toKeptProject } from '../projects/projectsFile.ts'
import { CommandError, configErrorExit } from './reporting.ts'

/** The server that a command asks, and the credentials. */
export interface AskedServer {
  /** Without a slash at its end, and without the endpoint. */
  readonly url: string
  readonly projectId: string
  readonly key: string
  readonly methodPrefix: string
}

/** Options of a command that asks a running server. */
export interface ServerOptions {
  readonly config?: string
  readonly url?: string
  readonly project?: string
  readonly key?: string
}

/**
 * The server of the configuration and its first project with a key in plain text, as far as the command line says nothing else.
 * The keys of a configuration that was not named are never sent to a URL that was.
 *
 * @throws {CommandError} something is missing.
 * @throws {ConfigError} the configuration is wrong.
 */
export async function findServer(options: ServerOptions): Promise<AskedServer> {
  const { url, project, key } = options
  const needsConfig = url === undefined || options.config !== undefined
  const config = needsConfig ? await loadConfig(options.config) : undefined
  const { projectId, key: foundKey } = findKey(project, key, config)
  return {
    url: url ?? ownUrl(config),
    projectId,
    key: foundKey,
    methodPrefix: config?.methodPrefix ?? 'svc_'
  }
}

function ownUrl(config: Config | undefined): string {
  if (config === undefined || config.listen.port === 0) {
    throw lacking('listen.port is 0, so the port of the server is not known; expected --url')
  }
  return `http://${reachable(config.listen)}`
}

function findKey(
  project: string | undefined,
  key: string | undefined,
  config: Config | undefined
): { readonly projectId: string; readonly key: string } {
  if (project !== undefined && key !== undefined) return { projectId: project, key }
  if (key !== undefined) throw lacking('--key is the key of a project; expected --project beside it')
  for (const { projectId, keys } of config?.projects.map(toKeptProject) ?? []) {
    if (project !== undefined && project !== projectId) continue
    const plain = keys.find(each => each.kind === 'server' && !isKeyDigest(each.key))
    if (plain !== undefined) return { projectId, key: plain.key }
  }
  const whose = project === undefined ? 'any project' : `project ${JSON.stringify(project)}`
  throw lacking(
    config === undefined
      ? 'A server named by --url needs credentials; expected --project and --key, or --config'
      : `The configuration has no key of ${whose} in plain text; expected --project and --key`
  )
}

/** Makes the error of a command line or configuration that names no server to ask. */
function lacking(message: string): CommandError {
  return new CommandError(message, configErrorExit)
}
