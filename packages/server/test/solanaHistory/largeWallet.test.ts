import { afterAll, beforeAll, expect, it } from 'vitest'
import { askHistory } from './askHistory.ts'
import { expectTruth } from './expectTruth.ts'
import { readBlocks } from './readTruth.ts'
import { createTransport, createValidator } from './scripted/createValidator.ts'
import { playLargeWallet } from './scripted/playLargeWallet.ts'
import { type LedgerService, serveLedger } from './serveLedger.ts'

const size = { tokenAccounts: 40, transactions: 700 }
const limit = 100
const { ledger, wallet } = playLargeWallet(size)
let served: LedgerService

beforeAll(async () => {
  served = await serveLedger(ledger)
})

afterAll(() => served?.close())

function callsOf(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { method } of served.node.calls) counts[method] = (counts[method] ?? 0) + 1
  served.node.calls.length = 0
  return counts
}

it('the first page costs one list for the wallet and for each token account, and each transaction once', async () => {
  const { transactions } = await askHistory(served.service, wallet, { limit })
  const calls = callsOf()
  expect(transactions).toHaveLength(limit)
  expect(calls.getSignaturesForAddress).toBeLessThanOrEqual(size.tokenAccounts + 1)
  // Some more than the page, so that the next page begins with what is there.
  expect(calls.getTransaction).toBeGreaterThanOrEqual(limit)
  expect(calls.getTransaction).toBeLessThanOrEqual(3 * limit)
})

it('the same page again reads no transaction and no whole list', async () => {
  await askHistory(served.service, wallet, { limit })
  const { getTransaction = 0 } = callsOf()
  expect(getTransaction).toBe(0)
})

it('all pages are what the blocks have', async () => {
  const [truth] = [(await readBlocks(createTransport(createValidator(ledger)))).historyOf(wallet)]
  const pages: Awaited<ReturnType<typeof askHistory>>[] = []
  for (let before: string | undefined; ; before = pages.at(-1)?.transactions.at(-1)?.signature) {
    const page = await askHistory(served.service, wallet, {
      limit: 250,
      ...(before !== undefined && { before })
    })
    pages.push(page)
    if (page.transactions.length < 250) break
  }
  expect(truth).toHaveLength(size.transactions)
  expectTruth({ ...pages[0]!, transactions: pages.flatMap(page => page.transactions) }, truth, 'all pages')
  expect(callsOf().getTransaction).toBeLessThanOrEqual(size.transactions)
})
