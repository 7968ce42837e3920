import { solanaHistoryOf, surfpoolUnsupportedReason } from '@chain-data/devnet'
import { expect, test } from 'vitest'
import { patient } from '../../../.config/patience.ts'
import type { Portfolio } from './support/startPortfolio.ts'

/** Long, for a machine that does much else. */
const patience = { timeout: patient(45_000), interval: 100 }
const noSolana = surfpoolUnsupportedReason()

/** The history of a Solana wallet, and what the page says of what is missing in it. */
export function solanaSuite(portfolio: () => Portfolio): void {
  const openWallet = (name: string) => {
    const { world } = portfolio().stack.devnet.solana!
    return portfolio().open({ hash: `#/${world.chainId}/${world.owners[name]!.address}` })
  }
  const truthOf = (name: string) => solanaHistoryOf(portfolio().stack.devnet.solana!.world, name)

  test.skipIf(noSolana !== undefined)('has every transaction of the truth in order, to its end', async () => {
    const { page, problems, close } = await openWallet('heidi')
    const truth = truthOf('heidi').map(({ signature }) => signature)
    const shown = () =>
      page.locator('.timeline .record').evaluateAll(rows => rows.map(row => row.getAttribute('data-hash')))
    await expect.poll(shown, patience).toEqual(truth.slice(0, 25))
    // Older ones are read once the end comes near.
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
    await expect.poll(shown, patience).toEqual(truth)
    await page.getByText(`That is all: ${truth.length} transactions`).waitFor()
    await page.getByText('Nothing is missing between these').waitFor()
    for (const text of ['rent "May"', 'for the müsli', '−0.4 wrapped SOL', '+6,950']) {
      expect(await page.locator('.timeline').getByText(text).count(), text).toBeGreaterThan(0)
    }
    expect(problems).toEqual([])
    await close()
  })

  test.skipIf(noSolana !== undefined)(
    'says where a transaction is missing that the node does not list',
    async () => {
      const { page, problems, close } = await openWallet('judy')
      await page.getByText('Something is missing in 1 place').waitFor()
      await page.getByText('Where', { exact: true }).click()
      const older = truthOf('judy')[1]!.signature
      expect(await page.locator(`.incomplete [title="${older}"]`).count()).toBe(1)
      expect(problems).toEqual([])
      await close()
    }
  )

  test.skipIf(noSolana !== undefined)(
    'does not call a history whole whose beginning is missing',
    async () => {
      const { stack } = portfolio()
      const { world } = stack.devnet.solana!
      const { page, problems, close } = await portfolio().open({
        hash: `#/${world.chainId}/${world.owners.judy!.address}`,
        // The gap of this wallet as of a node that has removed what came before.
        prepare: each =>
          each.route(`${stack.serviceUrl}/**`, async route => {
            const response = await route.fetch()
            const body = (await response.text()).replaceAll('"cause":"missing"', '"cause":"pruned"')
            await route.fulfill({ response, body })
          })
      })
      await page.getByText('The beginning of 1 account is missing').waitFor()
      expect(await page.getByText('Nothing is missing between these').count()).toBe(0)
      expect(problems).toEqual([])
      await close()
    }
  )
}
