import { RequestHandler } from 'msw'
import { setupServer } from 'msw/node'
import { expect, test } from 'vitest'
import { createHandlers } from '../../src/msw/index.ts'
import { describeHandlers } from './handlers.suite.ts'

describeHandlers(setupServer(), server => server.listen({ onUnhandledFrame: 'error' }))

test('the handlers are those of msw 3, one per endpoint', () => {
  const handlers = createHandlers({ baseUrl: 'https://rpc.example.com' })
  expect(handlers).toHaveLength(2)
  for (const handler of handlers) expect(handler).toBeInstanceOf(RequestHandler)
})
