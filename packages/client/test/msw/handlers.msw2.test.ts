import { RequestHandler } from 'msw2'
import { setupServer } from 'msw2/node'
import { expect, test, vi } from 'vitest'
import { createHandlers } from '../../src/msw/index.ts'
import { describeHandlers } from './handlers.suite.ts'

vi.mock('msw', () => import('msw2'))

const server = setupServer()
// The two versions declare the same handlers with different private parts.
const use = server.use as (...handlers: unknown[]) => void
describeHandlers(Object.assign(server, { use }), each => each.listen({ onUnhandledRequest: 'error' }))

test('the handlers are those of msw 2.15, one per endpoint', () => {
  const handlers = createHandlers({ baseUrl: 'https://rpc.example.com' })
  expect(handlers).toHaveLength(2)
  for (const handler of handlers) expect(handler).toBeInstanceOf(RequestHandler)
})
