import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Service } from './askService.ts'
import type { Change, HistoryRecord } from './foldChanges.ts'

/** A change of one account, and its whole history after it. */
export interface ScriptStep {
  readonly change: Change
  readonly history: readonly HistoryRecord[]
  /** The newest final block, once there is one. */
  readonly finalized?: number
}

/** An event on its way to a stream. */
export interface SentEvent {
  readonly id: string
  readonly data: string
}

/** How a source is wrong; each is called with what would be right. */
export interface Fault {
  /** The events of one stream, after position `after`; `connection` counts from 0. */
  readonly stream?: (events: readonly SentEvent[], connection: number) => readonly SentEvent[]
  /** Where a stream begins. */
  readonly resume?: (position: number) => number
  /** The cursor of a history. */
  readonly cursor?: (position: number) => number
  readonly history?: (text: string) => string
}

/** A service of one account that plays a script. */
export interface ScriptedSource extends Service {
  /** Tells the next change. */
  advance(): void
  /** Ends every stream. */
  cut(): void
  close(): Promise<void>
}

/** Of two cursors the later one is the greater text. */
const cursorOf = (position: number) => String(position).padStart(2, '0')

/** Starts a source that shows what a checker must find in a service, and what it must not. */
export async function startScriptedSource(
  script: readonly ScriptStep[],
  {
    stream = events => events,
    resume = position => position,
    cursor = position => position,
    history = all => all
  }: Fault
): Promise<ScriptedSource> {
  const listeners = new Set<() => void>()
  const open = new Set<ServerResponse>()
  let position = 0
  let connections = 0

  const server = createServer(async (request, response) => {
    const { method, params } = JSON.parse(await text(request))
    if (method === 'svc_watchAddresses') {
      const from = params[1]?.after ?? request.headers['last-event-id']
      return watch(response, from === undefined ? position : resume(Number(from)))
    }
    const records = position === 0 ? [] : script[position - 1]?.history
    response.setHeader('x-chain-data-cursor', cursorOf(Math.max(0, cursor(position))))
    response.end(history(JSON.stringify({ jsonrpc: '2.0', id: 1, result: records })))
  })

  function watch(response: ServerResponse, from: number): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const connection = connections++
    let sent = 0
    const send = () => {
      const due = script
        .slice(from, position)
        .map(({ change }, index) => ({ id: cursorOf(from + index + 1), data: JSON.stringify(change) }))
      const events = stream(due, connection)
      for (const { id, data } of events.slice(sent)) response.write(`id: ${id}\ndata: ${data}\n\n`)
      sent = events.length
      const synced = JSON.stringify({ kind: 'synced', finalized: script[position - 1]?.finalized })
      response.write(`id: ${cursorOf(position)}\ndata: ${synced}\n\n`)
    }
    listeners.add(send)
    open.add(response)
    response.on('close', () => {
      listeners.delete(send)
      open.delete(response)
    })
    send()
  }

  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, headers: {}, chainId: 1 },
    advance() {
      position++
      for (const send of listeners) send()
    },
    cut() {
      for (const response of open) response.destroy()
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}
