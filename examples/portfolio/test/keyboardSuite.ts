import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { evmAccount } from '@chain-data/devnet'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { patient } from '../../../.config/patience.ts'
import { type Portfolio, unservedChainId } from './support/startPortfolio.ts'

/** Nothing needs a mouse, nothing is said by colour alone, and the back button goes back. */
export function keyboardSuite(portfolio: () => Portfolio): void {
  const aliceOf = () => evmAccount(portfolio().evm.world, 'alice').address

  test('an address is entered, shown, left and returned to without a mouse', async () => {
    const { evm, open, pageUrl } = portfolio()
    const { page, problems, close } = await open()
    await page.getByRole('heading', { name: 'What does an address hold?' }).waitFor()
    const input = page.getByLabel('Address', { exact: true })

    await enterSearch(page)
    await page.keyboard.type('0x12')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'has 40 hex digits' }).waitFor()
    expect(await isFocused(input)).toBe(true)
    await page.keyboard.press('Escape')
    expect(await input.inputValue()).toBe('')
    expect(await isFocused(input)).toBe(false)

    await page.keyboard.press('/')
    await page.keyboard.type(aliceOf().toLowerCase())
    await page.keyboard.press('Enter')
    await page.locator('h1 [data-exact]').waitFor()
    expect(page.url()).toBe(`${pageUrl}#/${evm.world.chainId}/${aliceOf()}`)
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1')

    await page.goBack()
    await page.getByRole('heading', { name: 'What does an address hold?' }).waitFor()
    // It is offered again, beside the accounts to try.
    await page.getByRole('region', { name: 'Recently viewed' }).getByRole('link').waitFor()
    expect(problems).toEqual([])
    await close()
  })

  test('a wrong checksum is explained, and may be overruled', async () => {
    const { open } = portfolio()
    const { page, close } = await open()
    await page.getByRole('heading', { name: 'What does an address hold?' }).waitFor()
    const address = aliceOf()
    const wrong = address.replace(/[A-Fa-f](?=[^A-Fa-f]*$)/, letter =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
    )
    await enterSearch(page)
    await page.keyboard.type(wrong)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'EIP-55' }).waitFor()
    await page.getByRole('button', { name: 'Show it all the same' }).press('Enter')
    await page.locator('h1 [data-exact]').waitFor()
    expect(page.url()).toContain(address)
    await close()
  })

  test('Tab reaches everything in the order it is read, and always shows where it is', async () => {
    const { evm, open } = portfolio()
    const { page, close } = await open({ hash: `#/${evm.world.chainId}/${aliceOf()}`, width: 360 })
    await page.locator('.tokens').waitFor()
    // Proven, or to be proven by a press: nothing comes between any more.
    await page.locator('.proof button').waitFor()
    await page.getByRole('link', { name: 'Portfolio' }).focus()
    const places: { label: string; top: number; outline: string }[] = []
    for (let step = 0; step < 12; step++) {
      if (step > 0) await page.keyboard.press('Tab')
      places.push(
        await page.evaluate(() => {
          const element = document.activeElement as HTMLElement
          return {
            label: element.getAttribute('aria-label') ?? element.textContent ?? '',
            top: Math.round(element.getBoundingClientRect().top + scrollY),
            outline: getComputedStyle(element).outlineStyle
          }
        })
      )
    }
    for (const { outline, label } of places) expect(outline, label).not.toBe('none')
    // The switch of the theme stands beside the name on narrow screens, and behind the search on wide ones.
    const tops = places.filter(({ label }) => !label.startsWith('Theme')).map(({ top }) => top)
    expect(tops.length).toBe(places.length - 1)
    for (const [at, top] of tops.entries()) {
      // Neighbours on one line differ by a few pixels.
      if (at > 0) expect(top, JSON.stringify(places)).toBeGreaterThan((tops[at - 1] ?? 0) - 24)
    }
    await close()
  })

  test('the theme is remembered', async () => {
    const { open } = portfolio()
    const { page, close } = await open({ scheme: 'light' })
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await ground()
    await page.getByRole('button', { name: 'Theme: auto' }).click()
    await page.getByRole('button', { name: 'Theme: light' }).click()
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
    const dark = await ground()
    expect(dark).not.toBe(light)
    await page.reload()
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
    expect(await ground()).toBe(dark)
    await close()
  })

  test('axe finds nothing wrong on narrow and wide screens, light and dark', async () => {
    const { evm, open } = portfolio()
    // What is fading in has another contrast for a moment.
    const { page, close } = await open({ reducedMotion: 'reduce' })
    const show = (hash: string) => page.evaluate(to => location.assign(to), hash)
    const states: Record<string, () => Promise<void>> = {
      start: () => page.getByRole('heading', { name: 'Accounts to try' }).waitFor(),
      async account() {
        await show(`#/${evm.world.chainId}/${aliceOf()}`)
        await page.locator('.gallery .nft').first().waitFor()
      },
      async details() {
        await page.locator('.gallery .nft').first().click()
        await page.getByRole('dialog').waitFor()
      },
      async failure() {
        await page.keyboard.press('Escape')
        await show(`#/${unservedChainId}/${aliceOf()}`)
        await page.getByText('does not serve Ethereum').first().waitFor()
      }
    }
    for (const [state, enter] of Object.entries(states)) {
      await enter()
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 900 })
        for (const colorScheme of ['light', 'dark'] as const) {
          // What differs by both is on the page of an account; the others are looked at once each way.
          if (state !== 'account' && (width === 360) !== (colorScheme === 'light')) continue
          await page.emulateMedia({ colorScheme })
          const where = `${state}, ${width} pixels, ${colorScheme}`
          expect(await findings(page), where).toEqual([])
          expect(await page.evaluate(() => document.documentElement.scrollWidth), where).toBe(width)
        }
      }
    }
    await close()
  })
}

/** By its key, which is heard a moment after the page is there. */
async function enterSearch(page: Page): Promise<void> {
  const enter = async () => {
    await page.keyboard.press('/')
    return await isFocused(page.getByLabel('Address', { exact: true }))
  }
  await expect.poll(enter, { timeout: patient(30_000), interval: 100 }).toBe(true)
}

function isFocused(field: ReturnType<Page['getByLabel']>): Promise<boolean> {
  return field.evaluate(element => element === document.activeElement)
}

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe calls serious or critical, with where it is. */
async function findings(page: Page): Promise<string[]> {
  // By the debugger, which the page's policy does not stop.
  await page.evaluate(axe)
  return await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(
          options: object
        ): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>
      }
    }
    const { violations } = await axe.run({ resultTypes: ['violations'] })
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
  })
}
