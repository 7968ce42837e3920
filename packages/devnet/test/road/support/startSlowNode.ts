import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A real node that takes its time. */
export interface SlowNode {
  readonly url: string
  /** HTTP requests so far. */
  requests(): number
  /** For requests from now on. */
  setDelay(delayMs: number): void
  /** Called with the count at each request, before it is answered. */
  onRequest(listener: (count: number) => void): void
  close(): Promise<void>
}

/** Stands before a node and answers no earlier than `firstDelayMs` after it was asked. */
export async function startSlowNode(nodeUrl: string, firstDelayMs: number): Promise<SlowNode> {
  let delayMs = firstDelayMs
  let count = 0
  let listener: (count: number) => void = () => {}

  async function answer(body: Buffer<ArrayBuffer>, response: ServerResponse): Promise<void> {
    listener(++count)
    const headers = { 'content-type': 'application/json' }
    const [forwarded] = await Promise.all([
      fetch(nodeUrl, { method: 'POST', headers, body }),
      new Promise(resolve => setTimeout(resolve, delayMs))
    ])
    response.writeHead(forwarded.status, headers).end(Buffer.from(await forwarded.arrayBuffer()))
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    // A caller that was killed leaves requests without anyone to answer to.
    request.on('end', () => answer(Buffer.concat(chunks), response).catch(() => response.destroy()))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => count,
    setDelay(next) {
      delayMs = next
    },
    onRequest(next) {
      listener = next
    },
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    }
  }
}
