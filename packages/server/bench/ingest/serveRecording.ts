/**
 * A node that replays the recorded chain, a process of its own: `serveRecording.ts <folder> [last block]`. Tells its URL
 * as a message, or on its output where nobody listens to messages.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Listening } from '../http/messages.ts'
import { tellUsage } from '../http/tellUsage.ts'
import { createAnswers } from './createAnswers.ts'
import { readRecording } from './recording.ts'

const [, , folder = '', lastBlock] = process.argv
const answers = createAnswers(readRecording(folder, lastBlock === undefined ? undefined : Number(lastBlock)))

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params?: readonly unknown[]
}

function answer({ id, method, params = [] }: Call): readonly Buffer[] {
  const result = answers(method, params)
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id ?? null)},`
  if (result === undefined) {
    return [Buffer.from(`${head}"error":{"code":-32601,"message":"Method not found: ${method}"}}`)]
  }
  return [Buffer.from(`${head}"result":`), ...result, end]
}

const end = Buffer.from('}')
const comma = Buffer.from(',')

function answerBody(text: string): readonly Buffer[] {
  const calls = JSON.parse(text) as Call | readonly Call[]
  if (!Array.isArray(calls)) return answer(calls as Call)
  const pieces = calls.flatMap((call, place) => (place === 0 ? answer(call) : [comma, ...answer(call)]))
  return [Buffer.from('['), ...pieces, Buffer.from(']')]
}

/** A write of its own for each of many small pieces would cost more than to join them. */
const mostWrites = 8

function respond(response: ServerResponse, pieces: readonly Buffer[]): void {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
  if (pieces.length > mostWrites) {
    response.end(Buffer.concat(pieces, length))
    return
  }
  response.cork()
  for (const piece of pieces) response.write(piece)
  response.end()
}

function serve(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => respond(response, answerBody(Buffer.concat(chunks).toString())))
}

const server = createServer({ keepAliveTimeout: 60_000 }, serve)
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  if (process.send) process.send({ url } satisfies Listening)
  else process.stdout.write(`${url}\n`)
})
tellUsage()
