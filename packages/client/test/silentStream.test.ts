import { expect, test } from 'vitest'
import { createConnection, watchAddresses } from '../src/actions.ts'

test('a stream that nobody begins to answer ends with TIMEOUT, and with nothing unhandled', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  const connection = createConnection({
    ...{ baseUrl: 'https://service.example', projectId: 'demo', serverKey: 'demo-server-key', chainId: 1 },
    fetch: (_, init) =>
      new Promise((_resolve, reject) => {
        const { signal } = init as { readonly signal: AbortSignal }
        signal.addEventListener('abort', () => reject(signal.reason))
      })
  })
  const addresses = ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8'] as const
  const events = watchAddresses(connection, { addresses: [...addresses], timeoutMs: 20, retries: 0 })
  await expect(events.next()).rejects.toMatchObject({ code: 'TIMEOUT', retryable: true })
  // Node tells of them once its microtasks are done.
  await new Promise(resolve => setTimeout(resolve, 0))
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})
