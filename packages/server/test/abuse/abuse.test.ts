import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { authorization } from '../http/startService.ts'
import { type AnyExpectation, answered, type CallCase, call, type WireCase } from './AbuseCase.ts'
import { bodiesCases } from './bodies.cases.ts'
import { checkAnswer } from './checkAnswer.ts'
import { converse } from './converse.ts'
import { credentialsCases } from './credentials.cases.ts'
import { envelopeCases } from './envelope.cases.ts'
import { framingCases } from './framing.cases.ts'
import { headsCases } from './heads.cases.ts'
import { paramsCases } from './params.cases.ts'
import { slowCases } from './slow.cases.ts'
import { type AbusedService, startAbused } from './startAbused.ts'
import { stateCases } from './states.cases.ts'
import { targetCases, verbCases } from './targets.cases.ts'
import { requestBytes } from './wire.ts'

const callFamilies: Readonly<Record<string, readonly CallCase[]>> = {
  envelope: envelopeCases,
  params: paramsCases,
  bodies: bodiesCases,
  credentials: credentialsCases,
  verbs: verbCases
}
const wireFamilies: Readonly<Record<string, readonly WireCase[]>> = {
  targets: targetCases,
  heads: headsCases,
  framing: framingCases
}
const callCases = Object.values(callFamilies).flat()
const wireCases = Object.values(wireFamilies).flat()

let abused: AbusedService
beforeAll(async () => {
  abused = await startAbused()
})
afterAll(async () => {
  await abused.close()
})

it('the suite has at least 250 cases, each with a name of its own', () => {
  const counts = Object.entries({
    ...callFamilies,
    ...wireFamilies,
    slow: slowCases,
    states: stateCases
  }).map(([family, cases]) => `${family} ${cases.length}`)
  const names = [...callCases, ...wireCases, ...slowCases, ...stateCases].map(({ name }) => name)
  process.stdout.write(
    `${names.length} abuse cases: ${counts.join(', ')}; ${callCases.length} of them through both listeners\n`
  )
  expect(new Set(names).size).toBe(names.length)
  expect(names.length).toBeGreaterThanOrEqual(250)
})

/** Sent behind whatever leaves its connection open: the next answer must be the one to this. */
const last = requestBytes({ lines: ['Connection: close'], body: call({ id: '"last"' }) })

function resultsIn(expected: AnyExpectation): number {
  if ('empty' in expected) return 0
  const entries = 'entries' in expected ? expected.entries : [expected]
  return entries.filter(({ reason, isHistory }) => reason === undefined && !isHistory).length
}

async function checkWire(
  { bytes, expect: expected, kept }: WireCase,
  verbs?: readonly string[]
): Promise<void> {
  const { answers, raw } = await converse(abused.port, kept ? bytes + last : bytes, verbs)
  const all = kept ? [...expected, answered('"last"')] : expected
  expect(answers.map(({ status }) => status)).toEqual(all.map(({ status }) => status))
  for (const [at, answer] of answers.entries()) checkAnswer(answer, all[at]!, bytes)
  // What is smuggled need not be answered to do harm.
  expect(abused.takeCalls()).toBe(all.reduce((sum, one) => sum + resultsIn(one), 0))
  await abused.checkAfter(raw)
  abused.takeCalls()
}

describe.each(Object.entries(wireFamilies))('on a socket, %s:', (_family, cases) => {
  it.each(cases)('$name', testCase => checkWire(testCase))
})

/** The headers of a case, in which `null` leaves out a right one. */
function headersOf({ headers = {} }: CallCase): readonly (readonly [string, string])[] {
  const all = { authorization, 'content-type': 'application/json', ...headers }
  return Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
}

describe.each(Object.entries(callFamilies))('on a socket, %s:', (_family, cases) => {
  it.each(cases)('$name', async testCase => {
    const { verb = 'POST', target = '/evm-chain', body, expect: expected } = testCase
    const lines = headersOf(testCase).map(([name, value]) => `${name}: ${value}`)
    const head = [
      `${verb} ${target} HTTP/1.1`,
      'Host: x',
      ...lines,
      `Content-Length: ${Buffer.byteLength(body)}`
    ]
    // What a refusal leaves unread may end the connection before the answer is read, so it says so itself.
    const isLarge = Buffer.byteLength(body) > 1_048_576
    if (isLarge) head.push('Connection: close')
    const bytes = `${head.join('\r\n')}\r\n\r\n${Buffer.from(body).toString('latin1')}`
    await checkWire({ name: '', bytes, expect: [expected], kept: !isLarge }, [verb])
  })
})

describe.each(Object.entries(callFamilies))('as a Fetch handler, %s:', (_family, cases) => {
  it.each(cases)('$name', async testCase => {
    const { verb = 'POST', target = '/evm-chain', body, expect: expected } = testCase
    const init = { method: verb, headers: headersOf(testCase) as [string, string][] }
    const request = new Request(
      `http://service${target}`,
      verb === 'GET' || verb === 'HEAD' ? init : { ...init, body: new Uint8Array(Buffer.from(body)) }
    )
    // A Request brings a media type of its own along with a body.
    if (testCase.headers?.['content-type'] === null) request.headers.delete('content-type')
    const response = await abused.service.fetch(request)
    const answer = {
      status: response.status,
      headers: new Map(response.headers),
      body: await response.text()
    }
    checkAnswer(answer, expected, Buffer.from(body).toString())
    await abused.checkAfter([...answer.headers, answer.body].join('\n'))
  })
})
