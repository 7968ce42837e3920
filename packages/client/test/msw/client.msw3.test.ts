import { setupServer } from 'msw/node'
import { describeClient } from './client.suite.ts'

describeClient(setupServer(), server => server.listen({ onUnhandledFrame: 'error' }))
