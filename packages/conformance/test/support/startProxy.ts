import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createWire } from '../../src/wire/createWire.ts'
import type { ReceivedAnswer, SentRequest } from '../../src/wire/Exchange.ts'
import type { Change } from './changes.ts'

/** A proxy before a service. */
export interface ChangingProxy {
  readonly baseUrl: string
  /** What is done to answers from now on; absent: nothing. */
  change?: Change | undefined
  close(): Promise<void>
}

/** Headers that belong to one connection, or are written anew. */
const ownHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'host'])

function withoutOwn(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !ownHeaders.has(name))
  return Object.fromEntries(kept) as Record<string, string>
}

/** Starts a proxy that changes answers. A change that throws cuts the connection. */
export async function startProxy(target: string): Promise<ChangingProxy> {
  const wire = createWire({ baseUrl: target, concurrency: 32, timeoutMs: 20_000 })
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy())
  })

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { sent, received } = await wire.send(await readRequest(incoming))
    const { status, headers, text }: ReceivedAnswer = proxy.change?.(received, sent) ?? received
    outgoing.writeHead(status, withoutOwn(headers)).end(text)
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const proxy: ChangingProxy = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      wire.close()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
  return proxy
}

async function readRequest(incoming: IncomingMessage): Promise<SentRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString('utf8')
  return {
    verb: incoming.method ?? '',
    target: incoming.url ?? '',
    headers: withoutOwn(incoming.headers),
    ...(body === '' ? {} : { body })
  }
}
