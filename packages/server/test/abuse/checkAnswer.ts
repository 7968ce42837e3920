import { errors, limits, transport } from '@chain-data/protocol'
import { checkFailure, checkSuccess } from '@chain-data/protocol/validators'
import { expect } from 'vitest'
import type { AnyExpectation, Expectation } from './AbuseCase.ts'

/** An answer as it came, by whichever listener. Header names in lower case. */
export interface ReceivedAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Holds an answer against what it must be, and against what every answer must be. */
export function checkAnswer(answer: ReceivedAnswer, expected: AnyExpectation, sent: string): void {
  const { status, headers, body } = answer
  expect({ status, body: body.slice(0, 500) }).toMatchObject({ status: expected.status })
  for (const [name, value] of Object.entries(transport.answerHeaders)) expect(headers.get(name)).toBe(value)
  expect(headers.get('x-request-id')).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
  if ('empty' in expected) {
    expect(body).toBe('')
    return
  }
  expect(headers.get('content-type')).toBe(transport.responseContentType)
  const length = headers.get('content-length')
  if (length !== undefined) expect(length).toBe(String(Buffer.byteLength(body)))
  if (status === 401) expect(headers.get('www-authenticate')).toBe(transport.challenge)
  if (status === 405) expect(headers.get('allow')).toBeDefined()
  if (!('entries' in expected)) {
    checkEntry(body, JSON.parse(body), expected, sent)
    return
  }
  const entries = JSON.parse(body) as unknown[]
  expect(entries).toHaveLength(expected.entries.length)
  // An entry is one line of text as it was written; ids are looked for in all of it.
  for (const [at, entry] of entries.entries()) checkEntry(body, entry, expected.entries[at]!, sent)
}

function checkEntry(text: string, entry: unknown, expected: Expectation, sent: string): void {
  const { id, reason, path, chainId } = expected
  expect(text).toContain(`"id":${id},`)
  expect(entry).toMatchObject({ jsonrpc: '2.0', id: JSON.parse(id) })
  expect((entry as { chainId?: number }).chainId).toBe(chainId)
  if (reason === undefined) {
    expect(checkSuccess(entry)).toBeUndefined()
    return
  }
  // Code and message are compared with the table of errors in here.
  expect(checkFailure(entry)).toBeUndefined()
  const { error } = entry as { error: { code: number; data: Record<string, unknown> } }
  expect(error).toMatchObject({
    code: errors[reason].code,
    data: { reason, ...(path === undefined ? {} : { path }) }
  })
  checkEcho(JSON.stringify(error), sent)
}

/** Nothing of what was sent is repeated beyond the characters allowed, the quotes around them not counted. */
function checkEcho(text: string, sent: string): void {
  const length = limits.inputEchoCharacters + 3
  for (let at = 0; at + length <= text.length; at++) {
    expect(sent.includes(text.slice(at, at + length))).toBe(false)
  }
}

/** What no answer and no line of the log may hold: `secrets`, a stack, a path of the machine. */
export function checkLeaks(text: string, secrets: readonly string[]): void {
  for (const secret of secrets) expect(text.includes(secret)).toBe(false)
  expect(text).not.toMatch(/\\n +at |^ +at |node:internal|node_modules|\.ts:\d|file:\/\//m)
  expect(text.includes(process.cwd())).toBe(false)
}
