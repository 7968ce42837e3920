import { displayText } from '../../platform/displayText.ts'
import { reachable } from '../check/askServer.ts'
import { type Config, loadConfig } from '../config/config.ts'
import { isRecord } from '../config/isRecord.ts'
import { isKeyDigest } from '../projects/keyDigest.ts'

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

/** No server can be asked with what was given. The message says what is missing. */
export class MissingServerError extends Error {}

/**
 * The server of the configuration and its first project with a key in plain text, as far as the command line says nothing else.
 * The keys of a configuration that was not named are never sent to a URL that was.
 *
 * @throws {MissingServerError} something is missing.
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
    throw new MissingServerError('listen.port is 0, so the port of the server is not known; expected --url')
  }
  return `http://${reachable(config.listen)}`
}

function findKey(
  project: string | undefined,
  key: string | undefined,
  config: Config | undefined
): { readonly projectId: string; readonly key: string } {
  if (project !== undefined && key !== undefined) return { projectId: project, key }
  if (key !== undefined)
    throw new MissingServerError('--key is the key of a project; expected --project beside it')
  for (const { projectId, serverKey, serverKeys } of config?.projects ?? []) {
    if (project !== undefined && project !== projectId) continue
    const keys = [serverKey, ...serverKeys.map(each => (typeof each === 'string' ? each : each.key))]
    const plain = keys.find(each => each !== null && !isKeyDigest(each))
    if (typeof plain === 'string') return { projectId, key: plain }
  }
  const whose = project === undefined ? 'any project' : `project ${JSON.stringify(project)}`
  throw new MissingServerError(
    config === undefined
      ? 'A server named by --url needs credentials; expected --project and --key, or --config'
      : `The configuration has no key of ${whose} in plain text; expected --project and --key`
  )
}

/**
 * Words the JSON-RPC error of a server, safe for a terminal.
 *
 * @param refusal - What the server does not do, as the begin of a sentence.
 */
export function describeRefusal(
  { message, data }: Record<string, unknown>,
  projectId: string,
  refusal: string
): string {
  const { reason, extraMessage, supportedChainIds } = isRecord(data) ? data : {}
  if (reason === 'UNAUTHENTICATED') {
    return `The server does not know project ${JSON.stringify(displayText(projectId))} with this key; expected --project and --key of one that it knows.`
  }
  const words = [reason, extraMessage ?? message].filter(text => typeof text === 'string').map(displayText)
  const chains = Array.isArray(supportedChainIds)
    ? ` It serves ${supportedChainIds.filter(Number.isInteger).join(', ') || 'none'}.`
    : ''
  return `${refusal}: ${words.join(': ')}${chains}`
}
