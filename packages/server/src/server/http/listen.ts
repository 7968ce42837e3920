import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { limits } from '@chain-data/protocol'
import type { NodeHandler } from './createNodeHandler.ts'
import { refuseOnSocket } from './refuseOnSocket.ts'

/** A listening socket. */
export interface Listener {
  /** Origin to call it by; a wildcard address is shown as loopback. */
  readonly url: string
  /** Stops listening and lets open answers finish; after `graceMs` what is still open is cut. */
  close(graceMs: number): Promise<void>
}

// Longer than the idle time of common load balancers, so that it is they who close first.
const keepAliveTimeout = 65_000

// node:http accepts one connection in a round of the event loop. One that finds this queue full tries again after a second.
const backlog = 4_096

/** Parts of the open files that connections may be: those above the first are refused, those above the second closed. */
const servedShare = 0.7
const acceptedShare = 0.8

/** Reads how many files and connections the process may have open; infinite where the system does not say. */
function openFileLimit(): number {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return found === null ? Number.POSITIVE_INFINITY : Number(found[1])
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** Address and bounds of a listener. */
export interface ListenOptions {
  readonly handler: NodeHandler
  readonly host: string
  readonly port: number
  readonly headerBytes: number
  /** Maximum of header lines of a request; default `limits.headerFields` of the document. */
  readonly headerFields?: number
  /** Timeout for the head of a request; default `limits.receiveHeadMs` of the document. */
  readonly receiveHeadMs?: number
  /** Timeout for a whole request; default `limits.receiveRequestMs` of the document. */
  readonly receiveRequestMs?: number
  /** Interval of the check for slow requests, in milliseconds; default every second. */
  readonly checkEveryMs?: number
  /** Connections at the same time, more are closed at once; never more than four fifths of the files that may be open. */
  readonly maxConnections?: number
  /** A socket that neither sends nor takes anything for so long is cut. */
  readonly socketIdleMs: number
  /** Called with the reason of each request that is refused before the handler sees it. */
  readonly onRefusal?: (reason: string) => void
}

/** Listens with node:http. @throws the socket's error when the address cannot be used. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { handler, host, port, headerBytes, socketIdleMs } = options
  const {
    headerFields = limits.headerFields,
    receiveHeadMs = limits.receiveHeadMs,
    receiveRequestMs = limits.receiveRequestMs,
    checkEveryMs = 1_000,
    onRefusal = () => {}
  } = options
  const server = createServer({
    headersTimeout: receiveHeadMs,
    requestTimeout: receiveRequestMs,
    connectionsCheckingInterval: checkEveryMs,
    keepAliveTimeout,
    maxHeaderSize: headerBytes,
    // refuseOnSocket checks it, and answers more than an empty page.
    requireHostHeader: false
  })
  const openFiles = openFileLimit()
  const maxServed = Math.floor(openFiles * servedShare)
  server.on('request', refuseOnSocket(server, handler, headerFields, maxServed, onRefusal))
  server.setTimeout(socketIdleMs)
  const maxConnections = Math.min(options.maxConnections ?? openFiles, openFiles * acceptedShare)
  if (Number.isFinite(maxConnections)) server.maxConnections = Math.floor(maxConnections)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, backlog }, () => {
      server.off('error', reject)
      resolve()
    })
  })

  return {
    url: urlOf(server.address()),
    close(graceMs) {
      return new Promise(resolve => {
        // A keep-alive connection becomes idle only after its last answer, so looking once is not enough.
        const sweep = setInterval(() => server.closeIdleConnections(), 50)
        const cut = setTimeout(() => server.closeAllConnections(), graceMs)
        server.close(() => {
          clearInterval(sweep)
          clearTimeout(cut)
          resolve()
        })
        server.closeIdleConnections()
      })
    }
  }
}

function urlOf(address: ReturnType<ReturnType<typeof createServer>['address']>): string {
  if (typeof address !== 'object' || address === null) return `${address}`
  const wildcard = address.address === '::' || address.address === '0.0.0.0'
  const host = wildcard ? '127.0.0.1' : address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}
