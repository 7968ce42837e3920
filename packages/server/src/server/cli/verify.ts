import { inspect } from 'node:util'
import { ConfigError } from '../../platform/errors.ts'
import { reachable } from '../check/askServer.ts'
import { type Config, loadConfig } from '../config/config.ts'
import { isKeyDigest } from '../projects/keyDigest.ts'
import { askCertificate, NoCertificateError, type Verifier } from './askCertificate.ts'
import { formatCertificate } from './formatCertificate.ts'

const exits = { proven: 0, explained: 0, failed: 1, unprovable: 3 }
const noCertificateExit = 2

/**
 * `chain-data verify`: asks a running server for the certificate of an account and prints it. Exit code 0 when nothing is
 * missing or altered, 1 when something is, 3 when not everything can be known, 2 when there is no certificate.
 */
export async function verify(
  chainId: number,
  address: string,
  { json, roots, ...options }: VerifierOptions & { readonly json?: boolean; readonly roots?: boolean }
): Promise<void> {
  try {
    const certificate = await askCertificate(
      await findVerifier(options),
      chainId,
      address,
      roots ? { verify: 'roots' } : {}
    )
    const text = json ? asciiJson(certificate) : formatCertificate(certificate, chainId)
    process.exitCode = exits[certificate.verdict]
    process.stdout.once('error', reportLost)
    process.stdout.write(`${text}\n`)
  } catch (error) {
    process.stderr.write(`${describe(error)}\n`)
    process.exitCode = noCertificateExit
  }
}

/** A reader such as `head` may stop early. */
function reportLost(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return
  process.stderr.write(`The certificate cannot be written: ${error.message}\n`)
  process.exitCode = noCertificateExit
}

function describe(error: unknown): string {
  if (error instanceof ConfigError) return `Configuration error:\n${error.message}`
  if (error instanceof NoCertificateError || error instanceof VerifierError) return error.message
  // Thrown on, it would end the process with the exit code of a history that failed.
  return inspect(error)
}

/** The same JSON in which no character can move a cursor. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^ -~]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  )
}

/** Options of the command line. */
interface VerifierOptions {
  readonly config?: string
  readonly url?: string
  readonly project?: string
  readonly key?: string
}

/** Nobody can be asked with what was given. The message says what is missing. */
class VerifierError extends Error {}

/**
 * The server of the configuration and its first project with a key in plain text, as far as the command line says nothing else.
 * The keys of a configuration that was not named are never sent to a URL that was.
 *
 * @throws {VerifierError} something is missing.
 * @throws {ConfigError} the configuration is wrong.
 */
async function findVerifier(options: VerifierOptions): Promise<Verifier> {
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
