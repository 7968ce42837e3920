import { type Config, loadConfig } from '../config/config.ts'
import { isKeyDigest } from '../projects/keyDigest.ts'
import { reachable } from './askServer.ts'

/** Whom `chain-data verify` asks, and as whom. */
export interface Verifier {
  /** Without a slash at its end, and without the endpoint. */
  readonly url: string
  readonly projectId: string
  readonly key: string
  readonly methodPrefix: string
}

/** What the command line says of it. */
export interface VerifierOptions {
  readonly config?: string
  readonly url?: string
  readonly project?: string
  readonly key?: string
}

/** Nobody can be asked with what was given. The message says what is missing. */
export class VerifierError extends Error {}

/**
 * The server of the configuration and its first project with a key in plain text, as far as the command line says nothing else.
 * The keys of a configuration that was not named are never sent to a URL that was.
 *
 * @throws {VerifierError} something is missing.
 * @throws {ConfigError} the configuration is wrong.
 */
export async function findVerifier(options: VerifierOptions): Promise<Verifier> {
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
    throw new VerifierError('listen.port is 0, so the port of the server is not known; expected --url')
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
    throw new VerifierError('--key is the key of a project; expected --project beside it')
  for (const { projectId, serverKey, serverKeys } of config?.projects ?? []) {
    if (project !== undefined && project !== projectId) continue
    const keys = [serverKey, ...serverKeys.map(each => (typeof each === 'string' ? each : each.key))]
    const plain = keys.find(each => each !== null && !isKeyDigest(each))
    if (typeof plain === 'string') return { projectId, key: plain }
  }
  const whose = project === undefined ? 'any project' : `project ${JSON.stringify(project)}`
  throw new VerifierError(
    config === undefined
      ? 'A server named by --url needs credentials; expected --project and --key, or --config'
      : `The configuration has no key of ${whose} in plain text; expected --project and --key`
  )
}
