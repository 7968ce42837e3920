import { afterEach, expect, it } from 'vitest'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import { askCertificate, askHistory, type History, type PageOptions } from './askHistory.ts'
import { comparable, expectTruth } from './expectTruth.ts'
import { type Blocks, readBlocks, type TrueTransaction } from './readTruth.ts'
import { createTransport, createValidator } from './scripted/createValidator.ts'
import { playHistories } from './scripted/playHistories.ts'
import { type LedgerService, serveLedger } from './serveLedger.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)
process.stdout.write(`randomHistories: CHAIN_DATA_TEST_SEED=${seed}\n`)

/** The suite reads 100 histories; `SOLANA_HISTORIES=1000` reads as many, which takes minutes. */
const histories = Number(process.env.SOLANA_HISTORIES ?? 100)
const size = { wallets: 50, transactions: 300 }
const ledgers = Math.ceil(histories / size.wallets)
/** Wallets that are read page by page, of each form. */
const paged = 6

const open: LedgerService[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function play(ledgerSeed: number) {
  const { ledger, wallets } = playHistories(ledgerSeed, size)
  const blocks: Blocks = await readBlocks(createTransport(createValidator(ledger)))
  const served = await serveLedger(ledger)
  open.push(served)
  return { ledger, wallets, blocks, ...served }
}

it(`${histories} random histories are what walking every block finds: none missing, none double, in order`, async () => {
  let transactions = 0
  let unnamed = 0
  for (let at = 0; at < ledgers; at++) {
    const { service, wallets, blocks, close } = await play(seed + at)
    for (const wallet of wallets) {
      const truth = blocks.historyOf(wallet)
      const what = `ledger ${seed + at}, wallet ${wallet}`
      expectTruth(await askHistory(service, wallet), truth, what)
      const { verdict, findings, ...certificate } = await askCertificate(service, wallet)
      expect({ verdict, findings, transactions: certificate.transactions }, what).toEqual({
        ...{ verdict: 'proven', findings: [], transactions: truth.length }
      })
      transactions += truth.length
      unnamed += truth.filter(({ lamports }) => lamports === undefined).length
    }
    open.splice(0)
    await close()
  }
  // Otherwise nothing was shown.
  expect(transactions).toBeGreaterThan(ledgers * size.transactions)
  expect(unnamed).toBeGreaterThan(transactions / 20)
})

type ReadPages = (
  ask: (page: PageOptions) => Promise<History>,
  truth: readonly TrueTransaction[]
) => Promise<unknown[]>

/** Pages of a length until one is shorter. @param until - Where to stop. */
const inPages =
  (limit: number, more: PageOptions = {}): ReadPages =>
  async ask => {
    const read: unknown[] = []
    let before: string | undefined
    for (;;) {
      const { transactions } = await ask({ limit, ...more, ...(before !== undefined && { before }) })
      read.push(...comparable(transactions))
      if (transactions.length < limit) return read
      before = transactions.at(-1)!.signature
    }
  }

/** Each with the part of the truth that it is to give. */
const forms: readonly [
  string,
  ReadPages,
  (truth: readonly TrueTransaction[]) => readonly TrueTransaction[]
][] = [
  ['pages of one', inPages(1), truth => truth],
  ['pages of seven', inPages(7), truth => truth],
  ['one page of a thousand', inPages(1_000), truth => truth],
  [
    'everything before a signature',
    async (ask, truth) => comparable((await ask({ before: truth[2]!.signature })).transactions),
    truth => truth.slice(3)
  ],
  [
    'everything until a signature',
    async (ask, truth) => comparable((await ask({ until: truth.at(-3)!.signature })).transactions),
    truth => truth.slice(0, -3)
  ],
  [
    'a page between two signatures',
    async (ask, truth) => {
      const [before, until] = [truth[0]!.signature, truth.at(-2)!.signature]
      return comparable((await ask({ before, until, limit: 5 })).transactions)
    },
    truth => truth.slice(1, -2).slice(0, 5)
  ],
  [
    'pages of three of what names the wallet itself',
    inPages(3, { tokenAccounts: 'none' }),
    truth => truth.filter(({ lamports }) => lamports !== undefined)
  ]
]

it.each(forms)('%s are the same list', async (_form, read, part) => {
  const { service, wallets, blocks } = await play(seed - 1)
  const random = createRandom(seed)
  const long = wallets.filter(wallet => blocks.historyOf(wallet).length >= 8)
  expect(long.length).toBeGreaterThan(paged)
  for (const wallet of long.slice(0, paged)) {
    const truth = blocks.historyOf(wallet)
    // What is asked first must not matter: a closed account that only old transactions name is known by then.
    if (random.below(2) === 0) await askHistory(service, wallet)
    let late = false
    const ask = async (page: PageOptions) => {
      const answer = await askHistory(service, wallet, page)
      late ||= answer.covers.late !== undefined
      return answer
    }
    let answered = await read(ask, truth)
    // As the answer advises: pages asked for from now on have the late accounts in order.
    if (late) answered = await read(ask, truth)
    expect(answered, wallet).toEqual(comparable(part(truth) as History['transactions']))
  }
})
