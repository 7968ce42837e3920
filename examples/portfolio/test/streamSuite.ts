import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { answerInstead } from './support/answerInstead.ts'
import type { Portfolio } from './support/startPortfolio.ts'

/** The page follows an account by the stream of its changes, and polls where there is none. */
export function streamSuite(portfolio: () => Portfolio): void {
  /** Opens an account that nobody else has to do with, and counts the calls of its page. */
  async function openFollowed(address: string, prepare: (page: Page) => Promise<unknown> = async () => {}) {
    const calls: string[] = []
    const opened = await portfolio().open({
      hash: `#/${portfolio().evm.world.chainId}/${address}`,
      async prepare(page) {
        await prepare(page)
        page.on('request', request => {
          const { method } = (request.postDataJSON() ?? {}) as { method?: string }
          if (method !== undefined) calls.push(method)
        })
      }
    })
    const { page } = opened
    await page.getByText('No transactions', { exact: true }).waitFor()
    const count = (method: string) => calls.filter(each => each === method).length
    const balanceIs = (wei: string) => page.locator(`h1 [data-exact="${wei}"]`).waitFor()
    return { ...opened, count, balanceIs }
  }

  let sent = 0
  /** Sends to an account, and waits until its page shows each state. */
  async function sendTo(address: string, page: Page) {
    const { driver } = portfolio().evm
    const { hash } = await driver.send({
      label: `followed ${++sent}`,
      from: 'erin',
      to: address,
      valueWei: 7n
    })
    const row = (state: string) => page.locator(`[data-hash="${hash}"][data-state="${state}"]`)
    await row('pending').waitFor()
    await driver.mine()
    await row('success').waitFor()
  }

  test('asks for nothing while nothing happens, and shows at once what does', async () => {
    const address = `0x${'5e'.repeat(20)}`
    const { page, problems, count, balanceIs, close } = await openFollowed(address)
    // With the first row its parts ask for what they show, too.
    await sendTo(address, page)
    await balanceIs('0.000000000000000007')
    await page.waitForTimeout(500)
    const counted = () => [count('svc_getTransactionsByAddress'), count('svc_getTokensAndNFTs')]
    const before = counted()
    // Twice the time between two polls.
    await page.waitForTimeout(1000)
    expect(counted()).toEqual(before)
    await sendTo(address, page)
    await balanceIs('0.000000000000000014')
    expect(count('svc_watchAddresses')).toBe(1)
    expect(problems).toEqual([])
    await close()
  })

  test('shows the same where the service has no streams', async () => {
    const address = `0x${'5f'.repeat(20)}`
    const { stack } = portfolio()
    const data = { reason: 'METHOD_NOT_FOUND', extraMessage: 'No such method.' }
    const error = { code: -32601, message: 'Method not found', data }
    const { page, count, balanceIs, close } = await openFollowed(address, each =>
      answerInstead(each, stack.serviceUrl, 'svc_watchAddresses', { error })
    )
    await sendTo(address, page)
    await balanceIs('0.000000000000000007')
    // It is not asked again.
    expect(count('svc_watchAddresses')).toBe(1)
    await close()
  })
}
