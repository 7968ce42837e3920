import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** One checked address. `hostname` is only what the server is told and must prove, never looked up again. */
interface DialTarget {
  readonly address: string
  readonly port: number
  readonly hostname: string
  readonly secure: boolean
}

/**
 * Opens a connection to exactly `target.address`; for `secure`, TLS is established and the certificate is checked
 * against `target.hostname`.
 * @returns a connected socket that the caller must destroy.
 */
export type Dial = (target: DialTarget, signal: AbortSignal) => Promise<Socket>

/** The only place of the metadata module where a socket is opened. */
export const dialAddress: Dial = async (target, signal) => {
  signal.throwIfAborted()
  const { address, port, hostname, secure } = target
  const socket = secure
    ? connectTls({
        host: address,
        port,
        servername: serverName(hostname),
        ALPNProtocols: ['http/1.1'],
        // Said outright: NODE_TLS_REJECT_UNAUTHORIZED=0, set for the operator's own nodes, must not reach this far.
        rejectUnauthorized: true
      })
    : connectTcp({ host: address, port })
  const ready = secure ? 'secureConnect' : 'connect'
  // A socket may also fail when nobody waits for it any more; whoever uses it hears of that in its own way.
  socket.on('error', () => {})
  let stopListening = () => {}
  try {
    await new Promise<void>((resolve, reject) => {
      const onClose = () => reject(new Error('connection closed'))
      const onAbort = () => reject(signal.reason)
      socket.once(ready, resolve).once('error', reject).once('close', onClose)
      signal.addEventListener('abort', onAbort, { once: true })
      stopListening = () => {
        socket.off(ready, resolve).off('error', reject).off('close', onClose)
        signal.removeEventListener('abort', onAbort)
      }
    })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    stopListening()
  }
}

/**
 * Server name indication knows names only (RFC 6066); for an address an empty one keeps Node from sending it, and the
 * certificate is then checked against the dialled address, which is the same.
 */
function serverName(hostname: string): string {
  return /^[\d.]+$|:/.test(hostname) ? '' : hostname.replace(/\.$/, '')
}
