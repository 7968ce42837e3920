import { errors } from '@chain-data/protocol'
import { checkFailure, checkSuccess } from '@chain-data/protocol/validators'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Listener } from '../../src/server/http/listen.ts'
import { call } from './AbuseCase.ts'
import { converse, readAnswers } from './converse.ts'
import { type AbusedService, startAbused } from './startAbused.ts'
import { chunk, requestBytes } from './wire.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)

let abused: AbusedService
/** Where a machine that is slow for a moment makes no difference. */
let patient: Listener
beforeAll(async () => {
  abused = await startAbused({}, { receiveHeadMs: 50, receiveRequestMs: 50, checkEveryMs: 10 })
  patient = await abused.service.listen()
})
afterAll(async () => {
  await patient.close(0)
  await abused.close()
})

/** Every status that the documents name for what this server is asked. */
const documented = new Set([
  ...Object.values(errors).map(({ httpStatus }) => httpStatus),
  ...[200, 204, 400, 408, 417, 431, 501, 505]
])

const valid = [
  requestBytes({ lines: ['Connection: close'] }),
  requestBytes({ lines: ['Connection: close'], body: `[${call()},${call({ id: '"b"' })}]` }),
  requestBytes({
    lines: ['Connection: close', 'Transfer-Encoding: chunked'],
    body: `${chunk(call())}0\r\n\r\n`,
    length: null
  }),
  requestBytes({ lines: ['Expect: 100-continue', 'Connection: close'] })
]

const last = requestBytes({ lines: ['Connection: close'] })

/** One change of a text, at a place given as a part of its length. */
type Mutation = (text: string) => string
const place = fc.noBias(fc.nat(9_999)).map(part => part / 10_000)
const at = (text: string, part: number) => Math.floor(text.length * part)
const pieces = [
  '\0',
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  ' ',
  '\t',
  ':',
  ',',
  ';',
  '"',
  '\\\\',
  '{',
  '}',
  '[',
  ']',
  '0',
  '-',
  '\xff',
  '__proto__'
]
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(place, fc.nat(255)).map(
    ([part, byte]): Mutation =>
      text =>
        text.slice(0, at(text, part)) + String.fromCharCode(byte) + text.slice(at(text, part) + 1)
  ),
  fc.tuple(place, fc.constantFrom(...pieces)).map(
    ([part, piece]): Mutation =>
      text =>
        text.slice(0, at(text, part)) + piece + text.slice(at(text, part))
  ),
  fc.tuple(place, fc.nat(20)).map(
    ([part, length]): Mutation =>
      text =>
        text.slice(0, at(text, part)) + text.slice(at(text, part) + length)
  ),
  place.map(
    (part): Mutation =>
      text =>
        text.slice(0, at(text, part))
  ),
  fc.tuple(place, place).map(
    ([from, to]): Mutation =>
      text => {
        const lines = text.split('\r\n')
        lines.splice(at(text, to) % lines.length, 0, lines[at(text, from) % lines.length] ?? '')
        return lines.join('\r\n')
      }
  ),
  fc.tuple(place, fc.nat(100)).map(
    ([part, depth]): Mutation =>
      text =>
        text.slice(0, at(text, part)) + '['.repeat(depth) + text.slice(at(text, part))
  )
)
const mutated = fc
  .tuple(fc.constantFrom(...valid), fc.array(mutation, { minLength: 1, maxLength: 4 }))
  .map(([text, mutations]) => mutations.reduce((changed, mutate) => mutate(changed), text))

function checkBody(text: string): void {
  const body = JSON.parse(text)
  for (const entry of Array.isArray(body) ? body : [body]) {
    const mistake = 'error' in entry ? checkFailure(entry) : checkSuccess(entry)
    expect(mistake).toBeUndefined()
    expect(entry.error?.data.reason).not.toBe('INTERNAL')
  }
}

it(`random changes of good requests are answered as the document says, or cut (CHAIN_DATA_TEST_SEED=${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(mutated, { minLength: 20, maxLength: 20 }), async texts => {
      const raws = await Promise.all(
        texts.map(async text => {
          // A connection that was not ended by the change is ended by one more request.
          const { raw } = await converse(abused.port, text + last, [verbOf(text)])
          return raw
        })
      )
      for (const [index, raw] of raws.entries()) {
        for (const { status, body } of readAnswers(raw, [verbOf(texts[index]!)])) {
          expect(documented).toContain(status)
          expect([500, 502, 504]).not.toContain(status)
          if (body !== '') checkBody(body)
        }
      }
      await abused.checkAfter(raws.join('\n'))
    }),
    { seed, numRuns: 20, endOnFailure: true }
  )
})

it(`random bodies are answered alike by both listeners (CHAIN_DATA_TEST_SEED=${seed})`, async () => {
  const body = fc
    .tuple(
      fc.constantFrom(call(), `[${call()},${call({ id: '"b"' })}]`),
      fc.array(mutation, { minLength: 1, maxLength: 3 })
    )
    .map(([text, mutations]) => mutations.reduce((changed, mutate) => mutate(changed), text))
  await fc.assert(
    fc.asyncProperty(body, async text => {
      const bytes = Buffer.from(text, 'latin1')
      const { answers } = await converse(
        Number(new URL(patient.url).port),
        requestBytes({ lines: ['Connection: close'], body: text })
      )
      const response = await abused.service.post('/evm-chain', new Uint8Array(bytes))
      const fetched = await response.text()
      expect(answers.map(({ status, body }) => [status, body])).toEqual([[response.status, fetched]])
      checkBody(fetched)
    }),
    { seed, numRuns: 300, endOnFailure: true }
  )
  await abused.checkAfter('')
})

function verbOf(text: string): string {
  return /^\s*([A-Z]+)/.exec(text)?.[1] ?? ''
}
