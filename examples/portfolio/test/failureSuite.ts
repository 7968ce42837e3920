import { evmAccount } from '@chain-data/devnet'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { patient } from '../../../.config/patience.ts'
import { answerInstead } from './support/answerInstead.ts'
import { type Portfolio, unservedChainId } from './support/startPortfolio.ts'

/** Each failure says what is so and what to do, and the page goes on when it is over. */
export function failureSuite(portfolio: () => Portfolio): void {
  const alice = () => {
    const { world } = portfolio().evm
    return { chainId: world.chainId, address: evmAccount(world, 'alice').address }
  }
  const balance = (page: Page) => page.locator('h1 [data-exact]')
  const title = (page: Page, text: string) => page.locator('.head .noticeTitle', { hasText: text })

  test('a service that is down is named, and read as soon as it is back', async () => {
    const { open, stack } = portfolio()
    const { chainId, address } = alice()
    const { page, close } = await open({
      hash: `#/${chainId}/${address}`,
      prepare: each => each.route(`${stack.serviceUrl}/**`, route => route.abort('connectionrefused'))
    })
    await title(page, 'The service cannot be reached').waitFor()
    expect(await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).count()).toBeGreaterThan(0)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    // By itself.
    await balance(page).waitFor()
    await close()
  })

  test('what was read before stays when the service goes away, is called old, and goes on as before', async () => {
    const { open, passage, serviceUrl, evm } = portfolio()
    const { chainId, address } = alice()
    const { page, close } = await open({ hash: `#/${chainId}/${address}` })
    await balance(page).waitFor()
    await page.locator('.record').first().waitFor()
    passage.leadTo(undefined)
    passage.breakAll()
    await title(page, 'The service cannot be reached').waitFor()
    await page.locator('.head').getByText('What you see was read').waitFor()
    await page.locator('.timeline .noticeTitle', { hasText: 'The service cannot be reached' }).waitFor()
    expect(await balance(page).count()).toBe(1)
    const { hash } = await evm.driver.send({ label: 'meanwhile', from: 'erin', to: address, valueWei: 1n })
    passage.leadTo(serviceUrl)
    // By itself.
    await title(page, 'The service cannot be reached').waitFor({ state: 'detached' })
    await page.locator(`[data-hash="${hash}"]`).waitFor()
    await evm.driver.mine()
    await page.locator(`[data-hash="${hash}"][data-state="success"]`).waitFor()
    await close()
  })

  test('a wrong key is told apart, and is not tried again and again', async () => {
    const { open, stack } = portfolio()
    const { chainId, address } = alice()
    let calls = 0
    const { page, close } = await open({
      hash: `#/${chainId}/${address}`,
      prepare: each =>
        each.route(`${stack.serviceUrl}/**`, async route => {
          if (route.request().postData()?.includes('svc_getTokensAndNFTs')) calls++
          const headers = {
            ...route.request().headers(),
            authorization: `Basic ${btoa('portfolio:revoked')}`
          }
          await route.continue({ headers })
        })
    })
    await title(page, 'does not know this page’s key').waitFor()
    const before = calls
    // Twice the pace of the page.
    await page.waitForTimeout(1000)
    expect(calls).toBe(before)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.locator('.head').getByRole('button', { name: 'Try again' }).click()
    await balance(page).waitFor()
    await close()
  })

  test('a chain that is not served is named with those that are, and another can be chosen', async () => {
    const { open } = portfolio()
    const { chainId, address } = alice()
    const { page, close } = await open({ hash: `#/${unservedChainId}/${address}` })
    await title(page, 'The service does not serve Ethereum').waitFor()
    await page.locator('.head').getByText(`It serves Devnet (${chainId})`).waitFor()
    await page.getByLabel('Chain').selectOption({ label: 'Devnet' })
    await balance(page).waitFor()
    expect(page.url()).toContain(`#/${chainId}/${address}`)
    await close()
  })

  test('a chain that is still being read says how far it is, and is shown when it is done', async () => {
    const { open, stack } = portfolio()
    const { chainId, address } = alice()
    const data = { reason: 'NOT_SYNCED', extraMessage: 'Still indexing.', indexedTo: 1233, head: 4999 }
    const { page, close } = await open({
      hash: `#/${chainId}/${address}`,
      prepare: each =>
        answerInstead(each, stack.serviceUrl, '*', {
          error: { code: -32002, message: 'Resource unavailable', data }
        })
    })
    await title(page, 'Devnet is being read for the first time').waitFor()
    await page.locator('.head').getByText('1,234 of 5,000 blocks are read').waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await balance(page).waitFor()
    await close()
  })

  test('a history that cannot be read is named as long as that is so, beside what can', async () => {
    const { open, stack } = portfolio()
    const { chainId, address } = alice()
    let calls = 0
    const data = { reason: 'UPSTREAM_UNAVAILABLE', extraMessage: 'The node is down.' }
    const { page, close } = await open({
      hash: `#/${chainId}/${address}`,
      async prepare(each) {
        const error = { code: -32002, message: 'Chain node unavailable', data }
        await answerInstead(each, stack.serviceUrl, 'svc_getTransactionsByAddress', { error })
        each.on('request', request => {
          if (request.postData()?.includes('svc_getTransactionsByAddress')) calls++
        })
      }
    })
    const notice = page.locator('.timeline .notice')
    await notice.filter({ hasText: 'Devnet cannot be read right now' }).waitFor()
    expect(await balance(page).count()).toBe(1)
    await notice.evaluate(each => each.setAttribute('data-same', 'yes'))
    const before = calls
    await expect.poll(() => calls, { timeout: patient(45_000), interval: 50 }).toBeGreaterThan(before)
    // While it is being asked for again, and afterwards, it is the very same.
    expect(await notice.getAttribute('data-same')).toBe('yes')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.locator('.record').first().waitFor()
    await close()
  })

  test('an index that is behind, and a node that does not answer well, are named', async () => {
    const { open, stack } = portfolio()
    const { chainId, address } = alice()
    const { page, close } = await open({ hash: `#/${chainId}/${address}` })
    await balance(page).waitFor()
    const covers = { transfers: true, internal: true, pool: true }
    const status = { chainId, head: 1250, indexedTo: 1238, lagBlocks: 12, covers, indexedFrom: 0 }
    await answerInstead(page, stack.serviceUrl, 'svc_getSyncStatus', {
      result: { ...status, degraded: false }
    })
    await page.getByText('The history is 12 blocks behind').waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.getByText('The history is 12 blocks behind').waitFor({ state: 'detached' })
    await answerInstead(page, stack.serviceUrl, 'svc_getSyncStatus', {
      result: { ...status, degraded: true }
    })
    await page.getByText('The node of Devnet does not answer well').waitFor()
    await close()
  })

  test('an address of another kind in the link is explained', async () => {
    const { open, evm } = portfolio()
    const { page, close } = await open({
      hash: `#/${evm.world.chainId}/So11111111111111111111111111111111111111112`
    })
    await page.getByText('This is no address of Devnet').waitFor()
    await close()
  })
}
