import { RpcError } from '@chain-data/client/fetch'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { retryEvery, StaleNotice } from './FailedNotice.tsx'

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
