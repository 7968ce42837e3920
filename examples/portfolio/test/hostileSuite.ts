import { evmAccount } from '@chain-data/devnet'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { patient } from '../../../.config/patience.ts'
import { hostileImages, hostileNames } from '../stack/addAccounts.ts'
import { answerInstead } from './support/answerInstead.ts'
import type { Portfolio } from './support/startPortfolio.ts'

/** Names, pictures and metadata that mean harm are shown as text and asked of nobody. */
export function hostileSuite(portfolio: () => Portfolio): void {
  test('names stay text, and pictures are loaded from nowhere but where they may be', async () => {
    const { evm, open, pageUrl, stack } = portfolio()
    const { address } = evmAccount(evm.world, 'collector')
    const opened = await open({ hash: `#/${evm.world.chainId}/${address}` })
    const { page } = opened
    await page.getByText('1 more that looks like spam').click()
    const names = await page.locator('.tokens th bdi').allTextContents()
    expect(names).toHaveLength(Object.keys(hostileNames).length)
    expect(names).toContain('CDSU USDC')
    expect(names).toContain(hostileNames.claim)
    expect(names.find(name => name.startsWith('<img'))).toMatch(/^<img src=x onerror=.*…$/)
    for (const name of names) expect([...name].length).toBeLessThanOrEqual(40)
    await showEveryNft(page, Object.keys(hostileImages).length)
    await expectHarmless(opened, [pageUrl, stack.serviceUrl, stack.devnet.metadata.url])
    await opened.close()
  })

  test('a service that passes harm on does none either', async () => {
    const { evm, open, pageUrl, stack } = portfolio()
    const { address } = evmAccount(evm.world, 'collector')
    const images = [
      ...Object.values(hostileImages),
      `${stack.devnet.metadata.url}/ipfs/missing.png`,
      'https://user:password@pictures.invalid/1.png'
    ]
    const long = hostileNames.markup.repeat(150)
    const opened = await open({
      hash: `#/${evm.world.chainId}/${address}`,
      prepare: page =>
        answerInstead(page, stack.serviceUrl, 'svc_getTokensAndNFTs', {
          result: {
            native: '1',
            asOf: { blockNumber: 1, blockHash: '0x', timestamp: 1e18 },
            tokens: [
              ...images.map((image, at) => ({
                ...{ address: `0x${String(at).repeat(40)}`, name: long, symbol: hostileNames.bidi },
                ...{ decimals: 6, amount: '1', image }
              })),
              { address, name: '\u0000\u202e', symbol: '', decimals: 4.5, amount: '12345', image: '' }
            ],
            nfts: images.map((image, at) => ({
              ...{ address, isSemiFungible: false, tokenId: `${at}${'9'.repeat(70)}`, tokenBalance: '1' },
              ...{ tokenURI: 'javascript:1', name: long, symbol: long, image },
              data: { image, name: { toString: 1 }, description: [long], attributes: { length: 9 } }
            }))
          }
        })
    })
    await opened.page.getByText('base units; its decimals are unknown').waitFor()
    await showEveryNft(opened.page, images.length)
    await expectHarmless(opened, [pageUrl, stack.serviceUrl, stack.devnet.metadata.url], ['404'])
    expect(await opened.page.evaluate(() => document.documentElement.scrollWidth)).toBe(1280)
    await opened.close()
  })
}

/** Opens each NFT and closes it again. */
async function showEveryNft(page: Page, count: number): Promise<void> {
  const cards = page.locator('.gallery .nft')
  await expect.poll(() => cards.count(), { timeout: patient(30_000) }).toBe(count)
  for (const card of await cards.all()) {
    await card.click()
    await page.getByRole('dialog').getByText('Token id').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
}

async function expectHarmless(
  { page, problems, requests }: Awaited<ReturnType<Portfolio['open']>>,
  allowed: readonly string[],
  expectedProblems: readonly string[] = []
): Promise<void> {
  expect(await page.title()).toMatch(/ on Devnet – Portfolio$/)
  // Nothing of a stranger became an element: all there is comes from the page's own code.
  expect(
    await page.locator('script:not([src]), iframe, object, embed, a[href^="javascript" i]').count()
  ).toBe(0)
  const sources = await page
    .locator('img')
    .evaluateAll(images => images.map(image => image.getAttribute('src') ?? ''))
  const origins = allowed.map(url => new URL(url).origin)
  for (const source of sources) expect(origins).toContain(new URL(source).origin)
  for (const url of requests) expect(origins, url.slice(0, 100)).toContain(new URL(url).origin)
  expect(problems.filter(problem => !expectedProblems.some(part => problem.includes(part)))).toEqual([])
}
