import { setupServer } from 'msw2/node'
import { vi } from 'vitest'
import { describeClient } from './client.suite.ts'

vi.mock('msw', () => import('msw2'))

const server = setupServer()
// The two versions declare the same handlers with different private parts.
const use = server.use as (...handlers: unknown[]) => void
describeClient(Object.assign(server, { use }), each => each.listen({ onUnhandledRequest: 'error' }))
