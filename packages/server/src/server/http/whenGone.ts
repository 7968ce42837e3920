import type { Duplex } from 'node:stream'

const listenersOf = new WeakMap<Duplex, Set<() => void>>()

/**
 * Calls `listener` once when a connection closes; at once when it is closed already.
 *
 * @returns takes the listener off again.
 * @remarks An answer that waits behind another on its connection is told nothing by node:http of Node 20 when that
 *   ends, so the connection itself is watched; by one listener, however many requests it carries.
 */
export function whenGone(connection: Duplex, listener: () => void): () => void {
  if (connection.destroyed) {
    listener()
    return () => {}
  }
  let listeners = listenersOf.get(connection)
  if (listeners === undefined) {
    const all = new Set<() => void>()
    listeners = all
    listenersOf.set(connection, all)
    connection.once('close', () => {
      for (const gone of all) gone()
    })
  }
  const known = listeners.add(listener)
  return () => known.delete(listener)
}
