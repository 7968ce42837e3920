import type { Page } from 'playwright-core'

/** What a call is answered with in place of what the service says: a result, or an error of its table. */
export type Answer =
  | { readonly result: unknown }
  | {
      readonly error: {
        readonly code: number
        readonly message: string
        readonly data: { readonly reason: string; readonly [member: string]: unknown }
      }
    }

/** From now on, calls of a method are answered like this and do not reach the service. @param method - Or `*` for all. */
export async function answerInstead(
  page: Page,
  serviceUrl: string,
  method: string,
  answer: Answer
): Promise<void> {
  await page.route(`${serviceUrl}/**`, async route => {
    const request = route.request()
    const call =
      request.method() === 'POST' ? (request.postDataJSON() as { id: unknown; method: string }) : undefined
    if (call === undefined || (method !== '*' && call.method !== method)) {
      await route.fallback()
      return
    }
    await route.fulfill({
      headers: { 'access-control-allow-origin': '*' },
      json: { jsonrpc: '2.0', id: call.id, ...answer }
    })
  })
}
