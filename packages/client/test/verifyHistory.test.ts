import { examples } from '@chain-data/protocol/examples'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createClient as createFetchClient } from '../src/fetch.ts'
import { createClient, parseCoverage } from '../src/index.ts'
import { address, projectId, serverKey } from './support/credentials.ts'
import { answerResult, baseUrl, createStubService } from './support/stubService.ts'

const service = createStubService()
beforeAll(() => service.msw.listen({ onUnhandledFrame: 'error' }))
afterEach(() => service.reset())
afterAll(() => service.msw.close())

const [, incomplete] = examples.svc_verifyHistory
if (incomplete === undefined) throw new Error('the document has no example of a history that lacks something')
const u256 = 2n ** 256n - 1n
/** A certificate with amounts that no number holds, and words that are digits. */
const wire = {
  ...incomplete.result,
  native: { ...incomplete.result.native, difference: '-12345678901234567890' },
  tokens: [
    { address, verdict: 'proven', transfers: 2, received: String(u256), sent: '0', explanation: 'fee' }
  ],
  nfts: [{ address, standard: 'ERC-721', tokenId: '7', verdict: 'proven', received: '1', sent: '1' }],
  findings: [{ kind: 'MISSING_NONCE', message: '42', blockNumber: 42, nonce: '42' }]
}

describe.each([
  ['axios', createClient],
  ['fetch', createFetchClient]
])('a certificate over %s', (_transport, create) => {
  const client = create({ baseUrl, projectId, serverKey, chainId: 1 })

  test('has exact bigints in place of digits, and everything else as it came', async () => {
    service.answerWith(answerResult(wire))
    const certificate = await client.verifyHistory({ address })
    expect(certificate.native.difference).toBe(-12345678901234567890n)
    expect(certificate.native.parts.received).toBe(BigInt(wire.native.parts.received))
    expect(certificate.sent.count).toBe(BigInt(wire.sent.count ?? ''))
    expect(certificate.tokens).toEqual([
      { address, verdict: 'proven', transfers: 2, received: u256, sent: 0n, explanation: 'fee' }
    ])
    expect(certificate.nfts[0]?.tokenId).toBe(7n)
    expect(certificate.findings).toEqual([
      { kind: 'MISSING_NONCE', message: '42', blockNumber: 42, nonce: 42n }
    ])
    const written = JSON.stringify(certificate, (_name, value) =>
      typeof value === 'bigint' ? String(value) : value
    )
    expect(JSON.parse(written)).toEqual(wire)
  })

  test('is the same in request and batch, whatever int64 says', async () => {
    const texts = create({ baseUrl, projectId, serverKey, chainId: 1, int64: 'string' })
    const call = { method: 'svc_verifyHistory', params: [address] } as const
    service.answerWith(answerResult(wire))
    expect((await texts.request(call)).tokens[0]?.received).toBe(u256)
    service.answerWith(({ body }) => {
      const [{ id } = { id: 0 }] = body as unknown as { id: number }[]
      return new Response(JSON.stringify([{ jsonrpc: '2.0', id, result: wire }]))
    })
    const [outcome] = await texts.batch([call])
    expect(outcome.status === 'fulfilled' && outcome.value.tokens[0]?.received).toBe(u256)
  })

  test('and what it covers, of its answer', async () => {
    service.answerWith(
      ({ body }) =>
        new Response(JSON.stringify({ jsonrpc: '2.0', id: body.id, result: wire }), {
          headers: { 'x-chain-data-coverage': '1;from=5;to=9;transfers=5;deep=node' }
        })
    )
    let header: string | null | undefined
    await client.verifyHistory({
      address,
      onAnswer: answer => {
        header = answer.header('x-chain-data-coverage')
        expect(answer.header('x-other') ?? undefined).toBe(undefined)
      }
    })
    expect(parseCoverage(header)).toEqual([
      { chainId: 1, from: 5, to: 9, transfersFrom: 5, deepHistory: 'node' }
    ])
  })
})
