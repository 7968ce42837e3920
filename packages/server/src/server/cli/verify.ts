import { askCertificate } from './askCertificate.ts'
import { findServer, type ServerOptions } from './findServer.ts'
import { formatCertificate } from './formatCertificate.ts'
import { asciiJson } from './terminal.ts'

const exits = { proven: 0, explained: 0, failed: 1, unprovable: 3 }
/** Exit code where there is no certificate: one of the other codes would say something of the history. */
export const noCertificateExit = 2

/**
 * `chain-data verify`: asks a running server for the certificate of an account and prints it. Exit code 0 when nothing is
 * missing or altered, 1 when something is, 3 when not everything can be known, 2 when there is no certificate.
 */
export async function verify(
  chainId: number,
  address: string,
  { json, roots, ...options }: ServerOptions & { readonly json?: boolean; readonly roots?: boolean }
): Promise<void> {
  const asked = roots ? { verify: 'roots' as const } : {}
  const certificate = await askCertificate(await findServer(options), chainId, address, asked)
  const text = json ? asciiJson(certificate) : formatCertificate(certificate, chainId)
  process.exitCode = exits[certificate.verdict]
  process.stdout.once('error', reportLost)
  process.stdout.write(`${text}\n`)
}

/** A reader such as `head` may stop early. */
function reportLost(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return
  process.stderr.write(`The certificate cannot be written: ${error.message}\n`)
  process.exitCode = noCertificateExit
}
