import { codeOf } from '@chain-data/index'
import type { Config } from '../config/applyPresets.ts'
import type { NodeHandler } from '../http/createNodeHandler.ts'
import type { Service } from '../http/createService.ts'
import { type Listener, listen } from '../http/listen.ts'

export interface Listeners {
  readonly main: Listener
  /** Of the pages for operators; absent: `main` has them, or there are none. */
  readonly operator?: Listener
}

/**
 * Listens for calls, and for the pages of operators where they have a listener of their own.
 *
 * @param hasPages - there are pages for operators.
 * @throws the socket's error when an address cannot be used; then nothing listens.
 */
export async function openListeners(
  { listen: { operator, maxConnections, ...calls }, limits }: Config,
  service: Service,
  hasPages: boolean
): Promise<Listeners> {
  const open = (handler: NodeHandler, host: string, port: number) =>
    listen({
      ...{ handler, host, port, maxConnections },
      headerBytes: limits.headerBytes,
      onRefusal: service.countRefusal,
      // A call may stay silent until its deadline.
      socketIdleMs: Math.max(limits.streamIdleMs, limits.requestDeadlineMs + 5_000)
    })
  if (operator === 'main' || !hasPages) {
    return { main: await open(service.mainHandler, calls.host, calls.port) }
  }
  const openPages = (port: number) => open(service.pagesHandler, operator.host, port)
  const main = await open(service.callsHandler, calls.host, calls.port)
  try {
    const { port } = operator
    return { main, operator: await (port === null ? openAfter(calls.port, openPages) : openPages(port)) }
  } catch (error) {
    await main.close(0)
    throw error
  }
}

/** Listens at the port after this one, or at any free port where that one is taken. */
function openAfter(port: number, openAt: (port: number) => Promise<Listener>): Promise<Listener> {
  if (port === 0 || port === 65_535) return openAt(0)
  return openAt(port + 1).catch((error: unknown) => {
    if (codeOf(error) === 'EADDRINUSE') return openAt(0)
    throw error
  })
}
