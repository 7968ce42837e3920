import { setTimeout as wait } from 'node:timers/promises'
import { type EvmDriver, type EvmTransaction, evmAccount, evmHistoryOf } from '@chain-data/devnet'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { patient } from '../../../.config/patience.ts'
import { exactAmount } from '../src/shared/formatAmount.ts'
import { answerInstead } from './support/answerInstead.ts'
import type { Portfolio } from './support/startPortfolio.ts'

/** Long, for a machine that does much else. */
const patience = { timeout: patient(45_000), interval: 100 }
/** Of a whole test: each of its waits may take as long as one. */
const limit = { timeout: patient(240_000) }
/** More than three pages, in blocks of different sizes, so that pages end within blocks and between them. */
const longHistory = 90
/** Nobody else has to do with them. */
const scrolled = `0x${'5c'.repeat(20)}`
const watched = `0x${'3a'.repeat(20)}`

/** The history, the balance over time and the proof, while the chain moves on and back. */
export function timelineSuite(portfolio: () => Portfolio): void {
  const openAccount = (address: string, options: Parameters<Portfolio['open']>[0] = {}) =>
    portfolio().open({ hash: `#/${portfolio().evm.world.chainId}/${address}`, ...options })

  describe('a long history', () => {
    beforeAll(async () => {
      const { driver } = portfolio().evm
      for (let sent = 0; sent < longHistory; ) {
        const inBlock = Math.min(1 + ((sent * 7) % 17), longHistory - sent)
        for (let each = 0; each < inBlock; each++, sent++) {
          await driver.send({
            label: `scrolled ${sent}`,
            from: 'dave',
            to: scrolled,
            valueWei: BigInt(sent + 1)
          })
        }
        await driver.mine()
      }
      await whenIndexed(portfolio())
    })

    test(
      'is read to its first transaction by scrolling, and no row is lost or there twice',
      limit,
      async () => {
        const { evm } = portfolio()
        const { page, problems, close } = await openAccount(scrolled)
        const truth = evmHistoryOf(evm.world, scrolled).map(({ hash }) => hash)
        expect(truth).toHaveLength(longHistory)
        await expect.poll(() => hashesOf(page), patience).toEqual(truth.slice(0, 25))
        await expect
          .poll(async () => {
            await page.mouse.move(900, 500)
            await page.mouse.wheel(0, 5000)
            return await page.getByText('That is all: 90 transactions').count()
          }, patience)
          .toBe(1)
        expect(await hashesOf(page)).toEqual(truth)
        expect(problems).toEqual([])
        await close()
      }
    )

    test('goes on by a button too, and keeps the focus there', limit, async () => {
      const { page, close } = await openAccount(scrolled, {
        // Without it the end is never seen, as where somebody reads with the keyboard only.
        prepare: async each => {
          await each.addInitScript(() => {
            class Blind {
              observe() {}
              disconnect() {}
            }
            Object.assign(globalThis, { IntersectionObserver: Blind })
          })
        }
      })
      const button = page.getByRole('button', { name: 'Load older' })
      await button.focus()
      await page.keyboard.press('Enter')
      await expect.poll(async () => (await hashesOf(page)).length, patience).toBe(50)
      expect(await button.evaluate(each => each === document.activeElement)).toBe(true)
      await close()
    })

    test('reads on where the browser tells late that the end was seen', limit, async () => {
      const { page, close } = await openAccount(scrolled, {
        prepare: async each => {
          await each.addInitScript(() => {
            // On a busy machine what was seen before and after comes in one go.
            class Late {
              tell: (entries: object[]) => void
              constructor(tell: (entries: object[]) => void) {
                this.tell = tell
              }
              observe(element: Element) {
                const boundingClientRect = element.getBoundingClientRect()
                const seen = [false, true].map(isIntersecting => ({ isIntersecting, boundingClientRect }))
                setTimeout(() => this.tell(seen))
              }
              disconnect() {}
            }
            Object.assign(globalThis, { IntersectionObserver: Late })
          })
        }
      })
      await page.getByText('That is all: 90 transactions').waitFor()
      expect(new Set(await hashesOf(page)).size).toBe(longHistory)
      await close()
    })

    test(
      'says how far the service is with reading older history, and goes on when it is read',
      limit,
      async () => {
        const { stack } = portfolio()
        const { page, close } = await openAccount(scrolled, { height: 600 })
        await expect.poll(async () => (await hashesOf(page)).length, patience).toBe(25)
        const progress = { reachedBlock: 14_500_000, percent: 30, expectedMs: 50_000 }
        const data = { reason: 'STILL_READING', extraMessage: 'Still reading.', retryAfterMs: 200, progress }
        await answerInstead(page, stack.serviceUrl, 'svc_getTransactionsByAddress', {
          error: { code: -32002, message: 'History is still being read', data }
        })
        await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
        await page.locator('.end').getByText('Older history is being read: 30 %, about 50 s left').waitFor()
        expect(await hashesOf(page)).toHaveLength(25)
        await page.unrouteAll({ behavior: 'ignoreErrors' })
        await readAll(page)
        expect(await hashesOf(page)).toHaveLength(longHistory)
        // What the newest page was refused with is shown until that is read again.
        await expect.poll(() => page.getByText('Older history is being read').count(), patience).toBe(0)
        await close()
      }
    )

    test('keeps its place when something new comes, and says so', limit, async () => {
      const { driver } = portfolio().evm
      const { page, close } = await openAccount(scrolled, { height: 600 })
      await expect.poll(async () => (await hashesOf(page)).length, patience).toBeGreaterThan(20)
      // At once: a wheel scrolls on for a while, and on a busy machine may seem to have come to rest.
      await page.evaluate(() => scrollTo({ top: 1500, behavior: 'instant' }))
      const row = await settledRow(page)
      const before = await topOf(page, row)
      const { hash } = await driver.send({ label: 'scrolled, new', from: 'dave', to: scrolled, valueWei: 1n })
      await page.locator(`[data-hash="${hash}"]`).waitFor({ state: 'attached' })
      await page.getByRole('status').filter({ hasText: '1 new transaction' }).waitFor({ state: 'attached' })
      await expect.poll(async () => Math.abs((await topOf(page, row)) - before), patience).toBeLessThan(2)
      await driver.mine()
      await close()
    })
  })

  test(
    'a pending transaction is confirmed in its row, goes back when a reorg takes it, and comes again',
    limit,
    async () => {
      const { evm } = portfolio()
      const { driver } = evm
      const { page, problems, close } = await openAccount(watched)
      await page.getByText('No transactions', { exact: true }).waitFor()

      const intent = { from: 'erin', to: watched, valueWei: 12_345n }
      const { hash } = await driver.send({ label: 'watched', ...intent })
      const row = page.locator(`[data-hash="${hash}"]`)
      await stateIs(row, 'pending', 'Pending')
      expect(await row.locator('[data-exact]').first().getAttribute('data-exact')).toBe('12345')
      await row.evaluate(each => each.setAttribute('data-same', 'yes'))

      const { number } = await driver.mine()
      await stateIs(row, 'success', 'Success')
      // The very row, not another one in its place.
      expect(await row.getAttribute('data-same')).toBe('yes')

      await driver.reorg(1)
      await stateIs(row, 'gone', 'Taken out')
      await row.getByText(`It was in block ${number}, which the chain has replaced`).waitFor()
      expect(await hashesOf(page)).toEqual([hash])

      // The same transaction: its sender signs the same again.
      const again = await driver.send({ label: 'watched again', ...intent })
      expect(again.hash).toBe(hash)
      await stateIs(row, 'pending', 'Pending')
      await row.getByText(`It was in block ${number}, which the chain has replaced`).waitFor()
      await driver.mine()
      await stateIs(row, 'success', 'Success')
      await expect.poll(() => row.locator('.recordNote').count(), patience).toBe(0)
      await page.getByText('That is all: 1 transaction').waitFor()
      expect(problems).toEqual([])
      await close()
    }
  )

  test('where the index begins later than the chain, its beginning is named', limit, async () => {
    const { evm, stack } = portfolio()
    const covers = { transfers: true, internal: true, pool: true }
    const status = { chainId: evm.world.chainId, indexedFrom: 7, degraded: false, covers }
    const { page, close } = await openAccount(watched, {
      prepare: each => answerInstead(each, stack.serviceUrl, 'svc_getSyncStatus', { result: status })
    })
    await page.getByText('That is all since block 7, where the index begins: 1 transaction').waitFor()
    await close()
  })

  test(
    'the rows of alice are what the devnet knows, with failed ones marked and details on demand',
    limit,
    async () => {
      const { world } = portfolio().evm
      const { address } = evmAccount(world, 'alice')
      const { page, problems, close } = await openAccount(address, { width: 360 })
      await page.getByRole('button', { name: 'Activity' }).click()
      const truth = evmHistoryOf(world, address)
      await readAll(page)
      const shown = await page
        .locator('.record')
        .evaluateAll(rows => rows.map(row => [row.getAttribute('data-hash'), row.getAttribute('data-state')]))
      expect(shown).toEqual(truth.map(({ hash, state }) => [hash, state]))
      expect(shown.filter(([, state]) => state === 'failed').length).toBeGreaterThan(0)

      const transfer = truth.find(({ label }) => label === 'legacy transfer') as EvmTransaction
      const row = page.locator(`[data-hash="${transfer.hash}"]`)
      const amounts = await row
        .locator('[data-exact]')
        .evaluateAll(each => each.map(e => e.getAttribute('data-exact')))
      expect(amounts[0]).toBe(exactAmount(-transfer.valueWei, 18))
      const details = row.getByRole('button', { name: 'Details' })
      await details.focus()
      await page.keyboard.press('Enter')
      await row.getByText('0 (legacy)').waitFor()
      await row.getByText(transfer.hash).waitFor()
      await row.getByText(`${(21_000).toLocaleString('en')} used of`).waitFor()
      expect(problems).toEqual([])
      await close()
    }
  )

  test(
    'the chart is the balance that the node had after every block, and the history is proven',
    limit,
    async () => {
      const { driver, world } = portfolio().evm
      const { address } = evmAccount(world, 'alice')
      const { page, problems, close } = await openAccount(address)
      const badge = page.getByRole('button', { name: /Complete, proven to block/ })
      await readAll(page)
      await badge.waitFor()
      await page.getByRole('heading', { name: /^(Up|Down) [0-9.,]+ ETH since November 14, 2023/ }).waitFor()
      await page.getByText('Proven: it adds up to what the chain says.').waitFor()

      await page.getByText('As a table').click()
      const table = page.locator('.pointTable tbody tr')
      // Its rows come a moment after it is opened.
      await table.first().waitFor()
      const rows = await table.evaluateAll(each =>
        each.map(row => [
          Number(row.getAttribute('data-block')),
          row.querySelector('td:last-child [data-exact]')?.getAttribute('data-exact') ?? ''
        ])
      )
      const blocks = new Set(
        evmHistoryOf(world, address).flatMap(({ position }) => position?.blockNumber ?? [])
      )
      expect(rows.length).toBeGreaterThanOrEqual(blocks.size)
      for (const [block, balance] of rows) {
        expect(balance, `block ${block}`).toBe(
          exactAmount(await balanceAt(driver, address, Number(block)), 18)
        )
      }
      expect(rows[0]?.[1]).toBe(exactAmount(await balanceAt(driver, address, 'latest'), 18))

      // The pointer chooses too, wherever the page moves below it.
      await page.mouse.move(0, 0)
      const slider = page.getByRole('slider', { name: 'Balance after each block' })
      await slider.focus()
      await page.keyboard.press('Home')
      await expect
        .poll(() => slider.getAttribute('aria-valuetext'), patience)
        .toContain(`after block ${Math.min(...blocks)},`)

      await badge.click()
      const proof = page.getByRole('dialog', { name: /Complete, proven to block/ })
      const total = exactAmount(await balanceAt(driver, address, 'latest'), 18)
      await proof.locator(`.sum [data-exact="${total}"]`).waitFor()
      await page.keyboard.press('Escape')
      await proof.waitFor({ state: 'detached' })
      expect(problems).toEqual([])
      await close()
    }
  )
}

async function hashesOf(page: Page): Promise<string[]> {
  return await page
    .locator('.record')
    .evaluateAll(rows => rows.map(row => row.getAttribute('data-hash') ?? ''))
}

async function readAll(page: Page): Promise<void> {
  const end = page.getByText(/^That is all/)
  await expect
    .poll(async () => {
      await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
      return await end.count()
    }, patience)
    .toBe(1)
}

type Row = ReturnType<Page['locator']>

async function stateIs(row: Row, state: string, word: string): Promise<void> {
  await expect.poll(() => row.getAttribute('data-state'), patience).toBe(state)
  await row.locator('.state').filter({ hasText: word }).waitFor()
}

/** A row in the middle of the window, once scrolling has come to rest. */
async function settledRow(page: Page): Promise<string> {
  let last = -1
  await expect
    .poll(async () => {
      const now = await page.evaluate(() => scrollY)
      const rests = now === last && now > 0
      last = now
      return rests
    }, patience)
    .toBe(true)
  return await page.evaluate(() => {
    const rows = [...document.querySelectorAll('.record')]
    const inside = rows.find(row => row.getBoundingClientRect().top > innerHeight / 3)
    return inside?.getAttribute('data-hash') ?? ''
  })
}

function topOf(page: Page, hash: string): Promise<number> {
  return page.locator(`[data-hash="${hash}"]`).evaluate(row => row.getBoundingClientRect().top)
}

async function balanceAt(driver: EvmDriver, address: string, block: number | 'latest'): Promise<bigint> {
  const tag = block === 'latest' ? block : `0x${block.toString(16)}`
  return BigInt(String(await driver.rpc('eth_getBalance', address, tag)))
}

/** Waits until the service has read the devnet's newest block. */
async function whenIndexed({ evm, stack }: Portfolio): Promise<void> {
  const head = evm.world.blocks.length - 1
  const deadline = Date.now() + patience.timeout
  for (;;) {
    const body = await (await fetch(`${stack.serviceUrl}/health/ready`)).text()
    if (new RegExp(`"indexedTo":${head}\\b`).test(body)) return
    if (Date.now() > deadline) throw new Error(`block ${head} is not indexed in time`)
    await wait(100)
  }
}
