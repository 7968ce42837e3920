import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createClient as createFetchClient } from '../src/fetch.ts'
import { createClient } from '../src/index.ts'
import { caught } from './support/caught.ts'
import { address, projectId, serverKey, solanaAddress } from './support/credentials.ts'
import { answerTexts, baseUrl, createStubService, stubClient } from './support/stubService.ts'

const service = createStubService()
beforeAll(() => service.msw.listen({ onUnhandledFrame: 'error' }))
afterEach(() => service.reset())
afterAll(() => service.msw.close())

const u64 = '18446744073709551615'
const options = { baseUrl, projectId, serverKey, chainId: 101 }
const call = { accountAddress: solanaAddress }

const holdings = (lamports: string, amount: string, more = '') =>
  `{"jsonrpc":"2.0","id":1,"chainId":101,"result":{"lamports":${lamports}${more},"nfts":[],"tokens":[{"amount":${amount},"decimals":0}]}}`

const entries: [name: string, create: typeof createClient][] = [
  ['axios', createClient],
  ['fetch', createFetchClient]
]

describe.each(entries)('64-bit integers over %s', (_transport, create) => {
  test('are numbers by default, with their exact digits beside them', async () => {
    service.answerWith(answerTexts(holdings(u64, '7')))
    const { lamports, lamportsString, tokens } = await create(options).enhancedGetTokensAndNFTs(call)
    expect([lamports, lamportsString]).toEqual([Number(u64), u64])
    expect(tokens[0]).toEqual({ amount: 7, amountString: '7', decimals: 0 })
  })

  test('are exact digits where texts are asked for', async () => {
    service.answerWith(answerTexts(holdings('7', u64)))
    const { lamports, tokens } = await create({ ...options, int64: 'string' }).enhancedGetTokensAndNFTs(call)
    expect([lamports, tokens[0]?.amount]).toEqual(['7', u64])
  })

  test('are exact bigints where bigints are asked for, in request and batch too', async () => {
    const client = create({ ...options, int64: 'bigint' })
    service.answerWith(answerTexts(holdings('9007199254740993', u64)))
    const { lamports, tokens } = await client.enhancedGetTokensAndNFTs(call)
    expect([lamports, tokens[0]?.amount]).toEqual([9007199254740993n, 18446744073709551615n])
    service.answerWith(
      ({ text }) =>
        new Response(`[${holdings('1', u64).replace('"id":1', `"id":${JSON.parse(text)[0].id}`)}]`)
    )
    const [outcome] = await client.batch([{ method: 'enhancedGetTokensAndNFTs', ...call }])
    expect(outcome).toMatchObject({
      status: 'fulfilled',
      value: { lamports: 1n, tokens: [{ amount: BigInt(u64) }] }
    })
  })
})

test('the text of the host counts where its number was rounded before it was sent', async () => {
  service.answerWith(answerTexts(holdings('18446744073709552000', '1', `,"lamportsString":"${u64}"`)))
  const { lamports } = await createClient({ ...options, int64: 'bigint' }).enhancedGetTokensAndNFTs(call)
  expect(lamports).toBe(BigInt(u64))
})

test.each(['1.5', '12345678901234567e3', 'null', '"many"'])(
  '%s is no whole number: an error where digits are asked for, untouched by default',
  async amount => {
    service.answerWith(answerTexts(holdings('1', amount)))
    const error = await caught(createClient({ ...options, int64: 'bigint' }).enhancedGetTokensAndNFTs(call))
    expect(error).toMatchObject({ code: 'PROTOCOL', reason: 'INEXACT_NUMBER', retryable: false })
    const { tokens } = await createClient(options).enhancedGetTokensAndNFTs(call)
    expect(tokens).toEqual([{ amount: JSON.parse(amount), decimals: 0 }])
  }
)

test.each(['{}', '{"tokens":null}', '{"tokens":[null]}', '{"tokens":{}}'])(
  'what a result holds in another shape, %s, is passed on',
  async result => {
    service.answerWith(answerTexts(`{"jsonrpc":"2.0","id":1,"result":${result}}`))
    await expect(createClient(options).enhancedGetTokensAndNFTs(call)).resolves.toEqual(JSON.parse(result))
    service.answerWith(answerTexts(`{"jsonrpc":"2.0","id":1,"result":[null,1,${result}]}`))
    await expect(createClient(options).getTransactionsByAddress({ address })).resolves.toEqual([
      null,
      1,
      JSON.parse(result)
    ])
  }
)

describe('gas limit and nonce', () => {
  const history = (gasLimit: string, nonce: string) =>
    `{"jsonrpc":"2.0","id":1,"chainId":1,"result":[{"gasLimit":${gasLimit},"nonce":${nonce}}]}`

  test.each([
    ['numbers', '21000', '7'],
    ['0x-hex', '"0x5208"', '"0x7"'],
    ['0x-hex in upper case', '"0X5208"', '"0x07"'],
    ['decimal digits', '"21000"', '"7"']
  ])('are read from %s, also with a chainId on the answer', async (_form, gasLimit, nonce) => {
    service.answerWith(answerTexts(history(gasLimit, nonce)))
    await expect(stubClient().getTransactionsByAddress({ address })).resolves.toEqual([
      { gasLimit: 21000, nonce: 7 }
    ])
  })

  test.each([u64, '"0xffffffffffffffff"'])(
    '%s is rounded, and its digits stand beside it',
    async gasLimit => {
      service.answerWith(answerTexts(history(gasLimit, '1')))
      await expect(stubClient().getTransactionsByAddress({ address })).resolves.toEqual([
        { gasLimit: Number(u64), gasLimitString: u64, nonce: 1 }
      ])
    }
  )
})
