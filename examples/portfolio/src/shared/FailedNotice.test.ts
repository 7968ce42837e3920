import { RpcError } from '@chain-data/client/fetch'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { FailedNotice, retryEvery, StaleNotice } from './FailedNotice.tsx'

const error = (reason: string, retryable: boolean) => new RpcError('m', { code: 'RPC', reason, retryable })

test.each([
  [error('UPSTREAM_UNAVAILABLE', true), 3000, false],
  [error('CURSOR_REORGED', false), 3000, false],
  [error('INTERNAL', false), false, true]
])('%s is either asked again by itself or by hand', (failure, everyMs, hasButton) => {
  expect(retryEvery(failure, 31337, 12_000)).toBe(everyMs)
  const props = { error: failure, chainId: 31337, readAtSeconds: 0, onRetry: () => {} }
  const html = renderToStaticMarkup(createElement(StaleNotice, props))
  expect(html.includes('Try again')).toBe(hasButton)
})

test('what the service asks to wait is waited', () => {
  const limited = new RpcError('m', {
    ...{ code: 'RPC', reason: 'RATE_LIMITED', retryable: true },
    retryAfterMs: 45_000
  })
  expect(retryEvery(limited, 31337, 12_000)).toBe(45_000)
})

test('a history that is still being read says how far it is, and is no failure', () => {
  const progress = { reachedBlock: 14_500_000, percent: 30, expectedMs: 50_000 }
  const failure = new RpcError('m', {
    ...{ code: 'RPC', reason: 'STILL_READING', retryable: true },
    data: { reason: 'STILL_READING', extraMessage: 'x', progress }
  })
  expect(retryEvery(failure, 31337, 12_000)).toBe(3000)
  const html = renderToStaticMarkup(
    createElement(FailedNotice, { error: failure, chainId: 31337, onRetry: () => {} })
  )
  expect(html).toContain('Older history is being read: 30 %, about 50 s left')
  expect(html).toContain('14,500,000')
  expect(html).not.toMatch(/alert|Try again/)
})
