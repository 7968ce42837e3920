import { createHandlers, type MockOptions } from '@chain-data/client/msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll } from 'vitest'

export const baseUrl = 'https://rpc.example.com'

/**
 * Plays the service for the tests of a file: to be called once at its top.
 *
 * @returns What makes the service answer in its own way until the end of a test.
 */
export function mockService(): (options?: Partial<MockOptions>) => void {
  const server = setupServer()
  // A request that nobody plays fails the test in place of leaving the machine.
  beforeAll(() => server.listen({ onUnhandledFrame: 'error' }))
  afterEach(() => server.resetHandlers())
  afterAll(() => server.close())
  return options => server.use(...createHandlers({ baseUrl, ...options }))
}
