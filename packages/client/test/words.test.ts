import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { caught } from './support/caught.ts'
import { address } from './support/credentials.ts'
import { answerJson, createStubService, stubClient } from './support/stubService.ts'

const service = createStubService()
beforeAll(() => service.msw.listen({ onUnhandledFrame: 'error' }))
afterEach(() => service.reset())
afterAll(() => service.msw.close())

const refusal = (reason: string, code: number, extraMessage: string, data: object) =>
  answerJson({
    jsonrpc: '2.0',
    id: null,
    error: { code, message: 'No', data: { reason, extraMessage, ...data } }
  })

describe('an argument is named as the caller named it, with its value', () => {
  const params = (path: string) => refusal('INVALID_PARAMS', -32602, `${path} must be right.`, { path })

  test('by itself, in a list, among options, and the chain', async () => {
    const client = stubClient()
    service.answerWith(params('/params/0'))
    expect((await caught(client.getTokensAndNFTs({ address: 'vitalik.eth' }))).message).toBe(
      'getTokensAndNFTs: No: address must be right. Got "vitalik.eth". (-32602 INVALID_PARAMS)'
    )
    service.answerWith(params('/params/1/1'))
    const listed = client.getTokensAndNFTs({ address, tokenAddresses: [address, '0x1'] })
    expect((await caught(listed)).message).toContain('tokenAddresses.1 must be right. Got "0x1".')
    service.answerWith(params('/params/1/limit'))
    const limited = client.getTransactionsByAddress({ address, limit: 0 })
    expect((await caught(limited)).message).toContain(': limit must be right. Got 0.')
    service.answerWith(params('/chainId'))
    expect((await caught(client.getSyncStatus({ chainId: 9 }))).message).toContain(
      'chainId must be right. Got 9.'
    )
  })

  test('at most 100 characters of it, and none that the service has shown already', async () => {
    service.answerWith(params('/params/0'))
    const long = 'x'.repeat(1000)
    const error = await caught(stubClient().getTokensAndNFTs({ address: long }))
    expect(error.message).toContain(`Got "${'x'.repeat(99)}.`)
    service.answerWith(
      refusal('INVALID_PARAMS', -32602, 'address must be right; got "0x1".', { path: '/params/0' })
    )
    expect((await caught(stubClient().getTokensAndNFTs({ address: '0x1' }))).message).not.toContain('Got')
  })

  test('a request names what is on the wire', async () => {
    service.answerWith(params('/params/0'))
    const error = await caught(stubClient().request({ method: 'svc_getTokensAndNFTs', params: ['0x1'] }))
    expect(error.message).toMatch(/^svc_getTokensAndNFTs: No: \/params\/0 must be right\. Got "0x1"\./)
  })

  test('one that is missing is not sent', async () => {
    const error = await caught(stubClient().getTokensAndNFTs({} as never))
    expect(error).toMatchObject({
      message: 'getTokensAndNFTs: address is missing',
      reason: 'INVALID_ARGUMENT'
    })
    expect(service.received).toEqual([])
  })
})

test('a chain that is not served is answered with those that are', async () => {
  const supportedChainIds = [1, 10]
  service.answerWith(refusal('UNSUPPORTED_CHAIN', -32001, 'chainId 5 is not served.', { supportedChainIds }))
  expect((await caught(stubClient().getSyncStatus({ chainId: 5 }))).message).toContain('Served: 1, 10.')
})

test('where no chain is served, none is named', async () => {
  service.answerWith(
    refusal('UNSUPPORTED_CHAIN', -32001, 'chainId 5 is not served.', { supportedChainIds: [] })
  )
  expect((await caught(stubClient().getSyncStatus({ chainId: 5 }))).message).toContain('Served: none.')
})

test('a history that is too large for one answer names limit and iterateTransactions', async () => {
  service.answerWith(refusal('TOO_MANY_RESULTS', -32005, 'Too many.', {}))
  const refused = await caught(stubClient().getTransactionsByAddress({ address }))
  service.reset()
  const cut = await caught(stubClient({ maxResponseBytes: 10 }).getTransactionsByAddress({ address }))
  for (const { message } of [refused, cut]) {
    expect(message).toMatch(/^getTransactionsByAddress: .*limit.*iterateTransactions/)
  }
})
