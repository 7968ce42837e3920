import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RpcMessage {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** Changes what the node answers to one call, at once or when its promise is settled. Throws a {@link Refusal} to refuse. */
export type Fault = (call: RpcMessage, result: unknown) => unknown

/** Thrown by a {@link Fault} to answer a JSON-RPC error instead of a result. */
export class Refusal extends Error {
  readonly code: number
  constructor(code: number, message = 'refused by the test') {
    super(message)
    this.code = code
  }
}

/** A JSON-RPC aware proxy in front of a real node, which lies when told to. */
export interface FaultProxy {
  readonly url: string
  /** Every call that has come through, batches taken apart. */
  readonly calls: RpcMessage[]
  /** Replaces the fault; without one the proxy tells the truth. */
  setFault(fault?: Fault): void
  /** While down, connections are reset. */
  setDown(down: boolean): void
  /** Puts another node behind the proxy. */
  setTarget(nodeUrl: string): void
  close(): Promise<void>
}

export async function startFaultProxy(firstNodeUrl: string): Promise<FaultProxy> {
  const calls: RpcMessage[] = []
  let fault: Fault | undefined
  let isDown = false
  let nodeUrl = firstNodeUrl

  async function answerOne(call: RpcMessage): Promise<object> {
    calls.push(call)
    const response = await fetch(nodeUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(call)
    })
    const answer = (await response.json()) as { result?: unknown; error?: unknown }
    if (fault === undefined || 'error' in answer) return answer
    try {
      return { ...answer, result: await fault(call, answer.result) }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return { jsonrpc: '2.0', id: call.id, error: { code: error.code, message: error.message } }
    }
  }

  async function answer(body: string, response: ServerResponse): Promise<void> {
    const request = JSON.parse(body) as RpcMessage | RpcMessage[]
    const value = Array.isArray(request)
      ? await Promise.all(request.map(answerOne))
      : await answerOne(request)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  }

  const server = createServer((request, response) => {
    if (isDown) {
      request.socket.destroy()
      return
    }
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      answer(Buffer.concat(chunks).toString(), response).catch(() => response.destroy())
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    setFault(next) {
      fault = next
    },
    setDown(down) {
      isDown = down
      if (down) server.closeAllConnections()
    },
    setTarget(next) {
      nodeUrl = next
    },
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    }
  }
}
