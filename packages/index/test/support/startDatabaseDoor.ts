import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'

/** What becomes of bytes on their way to the database. */
export type Passage =
  | 'pass'
  /** They were sent already, by whoever was asked. */
  | 'sent'
  /** Only the first half of them arrives; the connection ends on both sides. */
  | 'cut'
  /** All of them arrive, and the connection ends before anything is answered. */
  | 'unheard'

/** A way to a PostgreSQL that a test stands in. */
export interface DatabaseDoor {
  /** Leads to the same database through the door. */
  readonly url: string
  /** Cuts whatever is open, too. */
  close(): Promise<void>
}

/**
 * Opens a port of this machine in front of a test database. Whatever a client sends waits for `onSend`, in order; answers
 * pass at once.
 *
 * @param url - of a test database, which names the folder of its socket as `host`.
 * @param onSend - called with each piece as it came from the socket, before the database gets it, and with what sends parts
 *   of it.
 */
export async function startDatabaseDoor(
  url: string,
  onSend: (piece: Buffer, send: (part: Buffer) => Promise<void>) => Passage | Promise<Passage>
): Promise<DatabaseDoor> {
  const through = new URL(url)
  const behind = through.searchParams.get('host')
  if (behind === null) throw new Error('the URL names no socket folder; expected that of a test database')
  const sockets = new Set<Socket>()

  const server = createServer(client => {
    const database = createConnection(join(behind, '.s.PGSQL.5432'))
    const end = () => {
      client.destroy()
      database.destroy()
    }
    for (const socket of [client, database]) {
      sockets.add(socket)
      socket.on('error', end)
      socket.once('close', () => sockets.delete(socket))
    }
    // What the server has got already it carries out, whether or not somebody waits for the answer.
    client.once('close', () => database.end())
    database.once('close', end)
    database.pipe(client)
    const send = (part: Buffer) =>
      new Promise<void>((resolve, reject) => {
        database.write(part, error => (error ? reject(error) : resolve()))
      })
    let turn = Promise.resolve()
    const inTurn = (work: () => unknown) => {
      turn = turn.then(async () => {
        if (!client.destroyed) await work()
      })
      turn.catch(end)
    }
    client.on('data', (piece: Buffer) =>
      inTurn(async () => {
        const passage = await onSend(piece, send)
        if (passage === 'pass') await send(piece)
        if (passage === 'pass' || passage === 'sent') return
        database.unpipe(client)
        database.resume()
        client.destroy()
        database.end(passage === 'cut' ? piece.subarray(0, piece.length >> 1) : piece)
      })
    )
    client.on('end', () => inTurn(() => database.end()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  through.searchParams.delete('host')
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: through.href,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    }
  }
}
