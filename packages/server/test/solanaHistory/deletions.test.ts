import { afterEach, expect, it } from 'vitest'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import { askCertificate, askHistory } from './askHistory.ts'
import { readBlocks, type TrueTransaction } from './readTruth.ts'
import type { Ledger } from './scripted/createLedger.ts'
import { createTransport, createValidator } from './scripted/createValidator.ts'
import { playHistories } from './scripted/playHistories.ts'
import { type LedgerService, serveLedger } from './serveLedger.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)
process.stdout.write(`deletions: CHAIN_DATA_TEST_SEED=${seed}\n`)

/** The suite deletes 40; `SOLANA_DELETIONS=200` as many, which takes a minute. */
const deletions = Number(process.env.SOLANA_DELETIONS ?? 40)
const wallets = 40

const open: LedgerService[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

interface Deletion {
  readonly wallet: string
  readonly signature: string
  /** The wallet or its token accounts whose balance the transaction moved. */
  readonly moved: readonly string[]
}

/** What continuity can find: the accounts that it moved are known without it. */
function choose(
  ledger: Ledger,
  wallet: string,
  truth: readonly TrueTransaction[],
  at: number
): Deletion | undefined {
  const { signature, lamports, tokens } = truth[at]!
  const isKnown = (account: string) =>
    ledger.state.tokens.get(account)?.owner === wallet ||
    truth.some(
      other =>
        other.signature !== signature &&
        other.lamports !== undefined &&
        other.tokens.some(each => each.account === account)
    )
  const moved = tokens
    .filter(({ pre, post, account }) => pre !== post && isKnown(account))
    .map(({ account }) => account)
  if (lamports !== undefined && lamports.pre !== lamports.post) moved.push(wallet)
  return moved.length === 0 ? undefined : { wallet, signature, moved }
}

it(`each of ${deletions} signatures that moved a balance is missed, by history and certificate, where the node's lists leave it out`, async () => {
  const random = createRandom(seed)
  let found = 0
  for (let ledgerSeed = seed; found < deletions; ledgerSeed++) {
    const { ledger, wallets: all } = playHistories(ledgerSeed, { wallets, transactions: 400 })
    const blocks = await readBlocks(createTransport(createValidator(ledger)))
    const chosen = all.flatMap(wallet => {
      const truth = blocks.historyOf(wallet)
      return choose(ledger, wallet, truth, random.below(truth.length)) ?? []
    })
    const omits = new Set<string>()
    const served = await serveLedger(ledger, { omits })
    open.push(served)
    for (const { wallet, signature, moved } of chosen) {
      omits.clear()
      omits.add(signature)
      const { transactions, covers, continuity } = await askHistory(served.service, wallet)
      const what = `ledger ${ledgerSeed}, wallet ${wallet}, without ${signature}`
      // The list of an account that another wallet owned may have been kept.
      if (transactions.some(each => each.signature === signature)) continue
      expect(covers.continuity, what).toBe(false)
      const named = continuity.gaps.filter(({ cause }) => cause === 'missing').map(({ account }) => account)
      expect(named, what).toEqual(expect.arrayContaining([moved[0]]))
      const { verdict, findings } = await askCertificate(served.service, wallet)
      const gaps = findings.filter(({ kind }) => kind === 'GAP').map(({ gap }) => gap)
      expect({ verdict, gaps }, what).toEqual({
        verdict: 'failed',
        gaps: continuity.gaps.filter(({ cause }) => cause === 'missing')
      })
      found++
    }
    open.splice(0)
    await served.close()
  }
})
