import { connect } from 'node:net'
import type { ReceivedAnswer } from './checkAnswer.ts'

/** What came over a connection until the server closed it. */
export interface Conversation {
  /** Without interim answers (100). */
  readonly answers: readonly ReceivedAnswer[]
  readonly raw: string
}

/**
 * Sends bytes (as Latin-1) and reads until the server closes the connection.
 *
 * @param verbs - of the requests, in their order, where one is HEAD: its answer has no body.
 */
export function converse(port: number, bytes: string, verbs: readonly string[] = []): Promise<Conversation> {
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1')
    socket.on('data', chunk => chunks.push(chunk)).on('error', () => {})
    socket.on('close', () => {
      const raw = Buffer.concat(chunks).toString('latin1')
      resolve({ raw, answers: readAnswers(raw, verbs) })
    })
    socket.write(Buffer.from(bytes, 'latin1'))
  })
}

/** Whole answers only; whatever is left of a broken one makes this throw. */
export function readAnswers(raw: string, verbs: readonly string[] = []): readonly ReceivedAnswer[] {
  const answers: ReceivedAnswer[] = []
  let rest = raw
  while (rest !== '') {
    const headEnd = rest.indexOf('\r\n\r\n')
    if (headEnd < 0) throw new Error(`an answer has no end of its head: ${rest.slice(0, 200)}`)
    const [line = '', ...lines] = rest.slice(0, headEnd).split('\r\n')
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1])
    if (Number.isNaN(status)) throw new Error(`no status line: ${line.slice(0, 200)}`)
    const headers = new Map(
      lines.map(text => [text.split(': ')[0]!.toLowerCase(), text.slice(text.indexOf(': ') + 2)])
    )
    if (headers.size !== lines.length) throw new Error('a header of an answer is repeated')
    rest = rest.slice(headEnd + 4)
    if (status === 100) continue
    const isEmpty = status === 204 || verbs[answers.length] === 'HEAD'
    const [body, length] = isEmpty ? ['', 0] : readBody(rest, headers)
    rest = rest.slice(length)
    answers.push({ status, headers, body: Buffer.from(body, 'latin1').toString('utf8') })
  }
  return answers
}

/** The body, and how many bytes it takes. */
function readBody(rest: string, headers: ReadonlyMap<string, string>): readonly [string, number] {
  const length = headers.get('content-length')
  if (length !== undefined) {
    if (rest.length < Number(length)) throw new Error('a body is cut')
    return [rest.slice(0, Number(length)), Number(length)]
  }
  if (headers.get('transfer-encoding') !== 'chunked') throw new Error('a body has neither length nor chunks')
  let body = ''
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at)
    const size = Number.parseInt(rest.slice(at, lineEnd), 16)
    if (lineEnd < 0 || rest.length < lineEnd + size + 4) throw new Error('a body is cut')
    body += rest.slice(lineEnd + 2, lineEnd + 2 + size)
    at = lineEnd + 2 + size + 2
    if (size === 0) return [body, at]
  }
}
