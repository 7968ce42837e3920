import { inspect } from 'node:util'
import { ConfigError } from '../../platform/errors.ts'
import { askCertificate, NoCertificateError } from './askCertificate.ts'
import { findServer, MissingServerError, type ServerOptions } from './findServer.ts'
import { formatCertificate } from './formatCertificate.ts'
import { asciiJson } from './terminal.ts'

const exits = { proven: 0, explained: 0, failed: 1, unprovable: 3 }
const noCertificateExit = 2

/**
 * `chain-data verify`: asks a running server for the certificate of an account and prints it. Exit code 0 when nothing is
 * missing or altered, 1 when something is, 3 when not everything can be known, 2 when there is no certificate.
 */
export async function verify(
  chainId: number,
  address: string,
  { json, roots, ...options }: ServerOptions & { readonly json?: boolean; readonly roots?: boolean }
): Promise<void> {
  try {
    const certificate = await askCertificate(
      await findServer(options),
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
  if (error instanceof NoCertificateError || error instanceof MissingServerError) return error.message
  // Thrown on, it would end the process with the exit code of a history that failed.
  return inspect(error)
}
