import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { evmAccount } from '@chain-data/devnet'
import { startTraffic } from '../../stack/startTraffic.ts'
import { startPortfolio } from './startPortfolio.ts'

/**
 * Takes the pictures of the page that the project's README shows:
 * `node --conditions=@chain-data/source examples/portfolio/test/support/takePictures.ts [folder]`, by default docs/images.
 */
const folder = process.argv[2] ?? join(import.meta.dirname, '../../../../docs/images')
await mkdir(folder, { recursive: true })
const portfolio = await startPortfolio()
try {
  const { evm, open } = portfolio
  const hash = `#/${evm.world.chainId}/${evmAccount(evm.world, 'alice').address}`
  // A few blocks of today, and one transaction that waits.
  const pace = { pendingMs: 300, quietMs: 50 }
  const traffic = startTraffic(evm.driver, error => process.stderr.write(`${String(error)}\n`), pace)
  await new Promise(resolve => setTimeout(resolve, 6000))
  await traffic.stop()
  const pending = { label: 'on the picture', from: 'carol', to: evmAccount(evm.world, 'alice').address }
  await evm.driver.send({ ...pending, valueWei: 12_345_678_000_000_000n })
  const views = [
    { name: 'portfolio-light', width: 1280, height: 1140, scheme: 'light' },
    { name: 'portfolio-phone', width: 360, height: 780, scheme: 'dark' }
  ] as const
  for (const { name, ...view } of views) {
    const { page, close } = await open({ hash, ...view, reducedMotion: 'reduce' })
    await page.getByText('Waiting for a block').waitFor({ state: 'attached' })
    const show = async (part: string) => {
      const button = page.getByRole('button', { name: part, exact: true })
      if (await button.isVisible()) await button.click()
    }
    await show('Activity')
    // The whole history, so that the chart shows all of it.
    for (let count = -1, before = -2; count !== before; ) {
      before = count
      await page.keyboard.press('End')
      await page.waitForTimeout(1500)
      count = await page.locator('.timeline li').count()
    }
    await page.keyboard.press('Home')
    await show('Tokens')
    const prove = page.getByRole('button', { name: 'Prove it' })
    if (await prove.isVisible()) await prove.click()
    await page.getByText('Complete, proven to block').waitFor()
    // Pictures of the first screen are there; those of a part that is not shown are not asked for.
    await page.waitForFunction(() => {
      const shown = [...document.images].filter(image => image.checkVisibility())
      return shown.slice(0, 4).every(({ complete }) => complete)
    })
    await page.evaluate(() => window.scrollTo({ top: 0, behavior: 'instant' }))
    await page.screenshot({ path: join(folder, `${name}.png`) })
    process.stdout.write(`${join(folder, `${name}.png`)}\n`)
    await close()
  }
} finally {
  await portfolio.stop()
}
