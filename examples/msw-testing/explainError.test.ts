import { createClient } from '@chain-data/client'
import {
  delayFault,
  type Fault,
  httpFault,
  malformedFault,
  networkFault,
  rpcFault
} from '@chain-data/client/msw'
import { expect, test } from 'vitest'
import { explainError } from './explainError.ts'
import { baseUrl, mockService } from './mockService.ts'

const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const access = { baseUrl, projectId: 'demo', serverKey: 'demo-server-key', chainId: 1 }

const serve = mockService()
const never = Number.POSITIVE_INFINITY

async function caught(run: () => unknown): Promise<unknown> {
  try {
    await run()
  } catch (error) {
    return error
  }
  throw new Error('nothing failed')
}

// Each kind of failure, as the client meets it.
test.each<[string, Fault, string, boolean]>([
  ['an index under way', rpcFault('NOT_SYNCED'), 'The index is still being built.', true],
  ['another chain', rpcFault('UNSUPPORTED_CHAIN'), 'This chain is not served here.', false],
  ['a key that ended', rpcFault('UNAUTHENTICATED'), 'The key of this application', false],
  ['a quota', rpcFault('RATE_LIMITED', { retryAfterMs: 4_200 }), 'Too many questions: again in 5 s.', true],
  ['any other refusal', rpcFault('RESPONSE_TOO_LARGE'), 'The service refused: RESPONSE_TOO_LARGE.', false],
  ['a login page', malformedFault('html'), 'What answered is not the service.', false],
  ['a broken proxy', httpFault(502), 'The service cannot be reached.', true],
  ['no connection', networkFault(), 'The service cannot be reached.', true],
  ['no answer', delayFault(never), 'The service took too long.', true]
])('explains %s', async (_what, fault, words, canRetry) => {
  serve({ fault })
  // Sent once and soon given up, so that no test waits for the pauses between attempts.
  const client = createClient({ ...access, retries: 0, timeoutMs: fault.kind === 'delay' ? 50 : 30_000 })
  const error = await caught(() => client.getTokensAndNFTs({ address }))
  expect(explainError(error)).toEqual({ words: expect.stringContaining(words), canRetry })
})

test('explains a call that the page gave up, and a client that cannot work', async () => {
  const signal = AbortSignal.abort()
  const aborted = await caught(() => createClient(access).getTokensAndNFTs({ address, signal }))
  expect(explainError(aborted).words).toBe('Stopped.')
  const misused = await caught(() => createClient({ ...access, baseUrl: 'http://rpc.example.com' }))
  expect(explainError(misused).words).toBe('This application is set up wrongly.')
})

test('a failure that passes is not seen at all: the client asks again', async () => {
  const faults = [networkFault(), httpFault(503)]
  serve({ fault: () => faults.shift() })
  const client = createClient({ ...access, maxDelayMs: 10 })
  expect(await client.getTokensAndNFTs({ address })).toHaveProperty('native')
  expect(faults).toEqual([])
})

test('a mistake in the program is not explained away', () => {
  expect(() => explainError(new TypeError('x is not a function'))).toThrow('x is not a function')
})
