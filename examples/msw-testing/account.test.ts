import { createClient } from '@chain-data/client'
import { expect, test } from 'vitest'
import { describeHoldings, followTransaction, readNewest } from './account.ts'
import { baseUrl, mockService } from './mockService.ts'
import { confirmed, pending } from './records.ts'

const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const credentials = { projectId: 'demo', key: 'demo-server-key' }
const client = createClient({ baseUrl, projectId: 'demo', serverKey: 'demo-server-key', chainId: 1 })
const serve = mockService()

test('says what an account owns, from the example of the document', async () => {
  // Only this pair is let in.
  serve({ credentials })
  expect(await describeHoldings(client, address)).toMatch(/^\d+(\.\d+)? ETH · .* · \d+ NFTs/)
})

test('leaves spam out and says so', async () => {
  const token = { address, decimals: 6, amount: '5', name: 'Dollar', symbol: 'USD', image: '' }
  const lure = { ...token, symbol: 'WIN', spam: { verdict: 'spam', reasons: ['CLAIM_WORDS'] } as const }
  const holdings = { native: '1500000000000000000', tokens: [token, lure], nfts: [] }
  serve({ methods: { svc_getTokensAndNFTs: holdings } })
  expect(await describeHoldings(client, address)).toBe('1.5 ETH · USD · 0 NFTs · 1 hidden as spam')
})

test('reads page after page until it has enough', async () => {
  const history = [pending(251), ...Array.from({ length: 250 }, (_, index) => confirmed(250 - index))]
  // The handlers cut the pages, as the service does.
  serve({ methods: { svc_getTransactionsByAddress: history } })
  expect(await readNewest(client, address, 150)).toEqual(history.slice(0, 150))
  expect(await readNewest(client, address, 1_000)).toEqual(history)
})

test.each([
  [3, 'succeeded'],
  [4, 'failed']
] as const)('follows a transaction until its block (status %i)', async (status, end) => {
  const { hash } = pending(1)
  // One answer for each time the service is asked.
  const answers = [[], [pending(1)], [pending(1)], [confirmed(1, status)]]
  serve({ methods: { svc_getTransactionsByAddress: () => answers.shift() ?? [] } })
  const seen: string[] = []
  for await (const progress of followTransaction(client, address, hash, 0)) seen.push(progress)
  expect(seen).toEqual(['not seen yet', 'pending', end])
  expect(answers).toEqual([])
})
