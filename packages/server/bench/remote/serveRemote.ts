/**
 * A remote node that replays a recorded chain, a process of its own: `serveRemote.ts <folder> <last block> <latency in ms>
 * <requests a second>`. Each answer comes that much later; with a rate above 0, requests are served one after the other at
 * that pace. Tells its URL as a message.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Listening } from '../http/messages.ts'
import { tellUsage } from '../http/tellUsage.ts'
import { createAnswers } from '../ingest/createAnswers.ts'
import { readRecording } from '../ingest/recording.ts'

const [, , folder = '', lastBlock, latencyMs, perSecond] = process.argv
const answers = createAnswers(readRecording(folder, Number(lastBlock)))
const serviceMs = Number(perSecond) > 0 ? 1_000 / Number(perSecond) : 0

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params?: readonly unknown[]
}

function answer({ id, method, params = [] }: Call): Buffer {
  const result = answers(method, params)
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id ?? null)},`
  if (result === undefined) {
    return Buffer.from(`${head}"error":{"code":-32601,"message":"Method not found: ${method}"}}`)
  }
  return Buffer.concat([Buffer.from(`${head}"result":`), ...result, Buffer.from('}')])
}

function answerBody(text: string): Buffer {
  const calls = JSON.parse(text) as Call | readonly Call[]
  if (!Array.isArray(calls)) return answer(calls as Call)
  const pieces = calls.flatMap((call, i) => [Buffer.from(i === 0 ? '[' : ','), answer(call)])
  return Buffer.concat([...pieces, Buffer.from(']')])
}

let idleAtMs = 0

/** Time until a request that has come now is answered. */
function delayMs(): number {
  const nowMs = performance.now()
  idleAtMs = Math.max(nowMs, idleAtMs) + serviceMs
  return (serviceMs === 0 ? 0 : idleAtMs - nowMs) + Number(latencyMs)
}

function serve(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const respond = () => {
      const body = answerBody(Buffer.concat(chunks).toString())
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
    }
    const waitMs = delayMs()
    if (waitMs === 0) respond()
    else setTimeout(respond, waitMs)
  })
}

const server = createServer({ keepAliveTimeout: 60_000 }, serve)
server.listen(0, '127.0.0.1', 1_024, () => {
  const { port } = server.address() as AddressInfo
  process.send?.({ url: `http://127.0.0.1:${port}` } satisfies Listening)
})
tellUsage()
