import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { newestForMs } from '../../src/features/solanaHistory/history/walletAccounts.ts'
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

afterEach(() => vi.useRealTimers())
afterAll(() => served?.close())

function callsOf(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { method, params } of served.node.calls) {
    // The watch of the cluster asks for its slot by the balance of a program; and lists ask for it once together.
    const isOfSlot = method === 'getSlot' || (method === 'getBalance' && params[0] !== wallet)
    if (!isOfSlot) counts[method] = (counts[method] ?? 0) + 1
  }
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

it('the same page again costs no call while it is new, and later the balances and the new part of each list', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + newestForMs })
  const first = await askHistory(served.service, wallet, { limit })
  callsOf()
  expect(await askHistory(served.service, wallet, { limit })).toEqual(first)
  expect(callsOf()).toEqual({})
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + newestForMs })
  expect(await askHistory(served.service, wallet, { limit })).toEqual(first)
  const lists = served.node.calls.filter(({ method }) => method === 'getSignaturesForAddress')
  for (const { params } of lists) expect(params[1]).toHaveProperty('until')
  expect(callsOf()).toEqual({
    getBalance: 1,
    getTokenAccountsByOwner: 2,
    getSignaturesForAddress: size.tokenAccounts + 1
  })
})

it('a page with before costs no call when it is asked again', async () => {
  const { transactions } = await askHistory(served.service, wallet, { limit })
  const page = { limit, before: transactions.at(-1)!.signature }
  const second = await askHistory(served.service, wallet, page)
  callsOf()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
  expect(await askHistory(served.service, wallet, page)).toEqual(second)
  expect(callsOf()).toEqual({})
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
