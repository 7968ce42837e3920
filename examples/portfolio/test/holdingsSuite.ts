import {
  evmAccount,
  expectedEvmHoldings,
  expectedSolanaHoldings,
  surfpoolUnsupportedReason
} from '@chain-data/devnet'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { patient } from '../../../.config/patience.ts'
import { exactAmount } from '../src/shared/formatAmount.ts'
import { answerInstead } from './support/answerInstead.ts'
import type { Portfolio } from './support/startPortfolio.ts'

/** Long, for a machine that does much else. */
const patience = { timeout: patient(30_000), interval: 100 }

/** What the page shows is what the devnet knows to be so, to the last digit. */
export function holdingsSuite(portfolio: () => Portfolio): void {
  for (const name of ['alice', 'frank', 'nobody']) {
    test(`of ${name} equal the truth exactly`, async () => {
      const { evm, open, stack } = portfolio()
      const { world, driver } = evm
      const { address } = evmAccount(world, name)
      const { page, problems, close } = await open({ hash: `#/${world.chainId}/${address}` })
      const truth = expectedEvmHoldings(world, address, stack.devnet.metadata.url)
      const native = BigInt(String(await driver.rpc('eth_getBalance', address, 'latest')))

      await expect.poll(() => exactTexts(page, 'h1'), patience).toEqual([exactAmount(native, 18)])
      const amounts = truth.tokens.map(({ amount, decimals }) => exactAmount(BigInt(amount), decimals))
      expect((await exactTexts(page, '.tokens')).sort()).toEqual(amounts.sort())
      const names = page.locator('.gallery .nftName')
      expect(await names.count()).toBe(truth.nfts.length)
      // They come with the metadata, which the service may still be reading when it is asked first.
      const unnamed = async () => {
        const held = (await names.allTextContents()).join('\n')
        return truth.nfts.flatMap(nft => (held.includes(nft.name) ? [] : [nft.name]))
      }
      await expect.poll(unnamed, patience).toEqual([])
      expect(problems).toEqual([])
      await close()
    })
  }

  test('a chain that no setting names has the name that the service reports', async () => {
    const { evm, open, stack } = portfolio()
    const { address } = evmAccount(evm.world, 'alice')
    const status = { chainId: 137, ready: true, phase: 'following', degraded: false }
    const covers = { transfers: true, internal: false, operations: false, pool: false }
    const { page, close } = await open({
      hash: `#/137/${address}`,
      prepare: each =>
        answerInstead(each, stack.serviceUrl, 'svc_getSyncStatus', {
          result: { ...status, covers, name: 'Polygon' }
        })
    })
    await page.locator('.whose').getByText('Polygon', { exact: true }).waitFor()
    await expect.poll(() => page.title(), patience).toContain('on Polygon')
    await close()
  })

  test('the name of an account stands next to its address', async () => {
    const { evm, open, stack } = portfolio()
    const { address } = evmAccount(evm.world, 'alice')
    const result = { native: '1', name: 'alice.eth', tokens: [], nfts: [] }
    const { page, close } = await open({
      hash: `#/${evm.world.chainId}/${address}`,
      prepare: each => answerInstead(each, stack.serviceUrl, 'svc_getTokensAndNFTs', { result })
    })
    const whose = page.locator('.whose')
    await whose.getByText('alice.eth', { exact: true }).waitFor()
    await whose.getByTitle(address).waitFor()
    await close()
  })

  test('an NFT shows all that is known of it, and Esc closes it', async () => {
    const { evm, open } = portfolio()
    const { address } = evmAccount(evm.world, 'alice')
    const { page, problems, close } = await open({ hash: `#/${evm.world.chainId}/${address}` })
    const card = page.getByRole('button', { name: /Sunrise #1/ })
    await card.click()
    const dialog = page.getByRole('dialog', { name: 'Sunrise #1' })
    for (const text of ['Served over HTTP.', 'Colour', 'orange', 'ERC-721']) {
      await dialog.getByText(text).waitFor()
    }
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await card.evaluate(button => button === document.activeElement)).toBe(true)
    expect(problems).toEqual([])
    await close()
  })

  test('a balance that changes is shown without a reload', async () => {
    const { evm, open } = portfolio()
    const { world, driver } = evm
    const { address } = evmAccount(world, 'mallory')
    const { page, problems, close } = await open({ hash: `#/${world.chainId}/${address}` })
    const before = BigInt(String(await driver.rpc('eth_getBalance', address, 'latest')))
    await expect.poll(() => exactTexts(page, 'h1'), patience).toEqual([exactAmount(before, 18)])
    await driver.send({ label: 'to mallory, watched', from: 'carol', to: address, valueWei: 42n })
    await driver.mine()
    await expect.poll(() => exactTexts(page, 'h1'), patience).toEqual([exactAmount(before + 42n, 18)])
    expect(problems).toEqual([])
    await close()
  })

  const noSolana = surfpoolUnsupportedReason()
  if (noSolana !== undefined) process.stdout.write(`Skipped: Solana holdings, because ${noSolana}.\n`)

  test.skipIf(noSolana !== undefined)('of a Solana account equal the truth exactly', async () => {
    const { open, stack } = portfolio()
    const { world } = stack.devnet.solana!
    const truth = expectedSolanaHoldings(world, 'alice', {
      parseMetadataUri: true,
      origin: stack.devnet.metadata.url
    })
    const { page, problems, close } = await open({
      hash: `#/${world.chainId}/${world.owners.alice!.address}`
    })
    await expect.poll(() => exactTexts(page, 'h1'), patience).toEqual([exactAmount(truth.lamports, 9)])
    // One row for each mint.
    const byMint = new Map<string, { amount: bigint; decimals: number; accounts: bigint[] }>()
    for (const { mint, amount, decimals } of truth.tokens) {
      const known = byMint.get(mint) ?? { amount: 0n, decimals, accounts: [] }
      byMint.set(mint, { decimals, amount: known.amount + amount, accounts: [...known.accounts, amount] })
    }
    const rows = [...byMint.values()]
    const amounts = rows.map(({ amount, decimals }) => exactAmount(amount, decimals))
    expect((await exactTexts(page, '.tokens')).sort()).toEqual(amounts.sort())
    const several = rows.find(({ accounts }) => accounts.length === 2)!
    await page.locator('.tokenAccounts summary', { hasText: '2 accounts' }).click()
    const listed = () => exactTexts(page, '.tokenAccounts[open]')
    await expect
      .poll(async () => (await listed()).sort(), patience)
      .toEqual(several.accounts.map(amount => exactAmount(amount, several.decimals)).sort())
    expect(await page.locator('.gallery .nft').count()).toBe(truth.nfts.length)
    expect(problems.filter(problem => !problem.includes('404'))).toEqual([])
    await close()
  })
}

/** Amounts with all of their digits, as they would be copied. */
function exactTexts(page: Page, within: string): Promise<string[]> {
  return page
    .locator(`${within} [data-exact]`)
    .evaluateAll(amounts => amounts.map(amount => amount.getAttribute('data-exact') ?? ''))
}
