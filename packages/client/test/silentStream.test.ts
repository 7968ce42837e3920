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

const addresses = ['0x70997970c51812dc3a010c7d01b50e0d17dc79c8']
const options = {
  baseUrl: 'https://service.example',
  projectId: 'demo',
  serverKey: 'demo-server-key',
  chainId: 1
}
type Fetch = NonNullable<Parameters<typeof createConnection>[0]['fetch']>

/** Answers with a stream that sends nothing after its first comment, until it is cancelled. */
function answerSilently(onCancel: () => void): Fetch {
  return async () =>
    new Response(
      new ReadableStream({
        start: controller => controller.enqueue(new TextEncoder().encode(': hello\n\n')),
        cancel: onCancel
      }),
      { headers: { 'content-type': 'text/event-stream' } }
    )
}

test('return() ends an iteration that waits for an event at once, and closes its stream', async () => {
  let cancelled = 0
  const connection = createConnection({ ...options, fetch: answerSilently(() => cancelled++) })
  const events = watchAddresses(connection, { addresses })
  const waiting = events.next()
  // The stream is there.
  await new Promise(resolve => setTimeout(resolve, 10))
  expect(await events.return()).toEqual({ done: true, value: undefined })
  expect(await waiting).toEqual({ done: true, value: undefined })
  expect(cancelled).toBe(1)
})

test('return() ends an iteration that waits for an answer, or to connect again', async () => {
  const silent: Fetch = (_, init) =>
    new Promise((_resolve, reject) => {
      const { signal } = init as { readonly signal: AbortSignal }
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  const unanswered = watchAddresses(createConnection({ ...options, fetch: silent }), { addresses })
  const first = unanswered.next()
  await new Promise(resolve => setTimeout(resolve, 0))
  expect(await unanswered.return()).toEqual({ done: true, value: undefined })
  expect(await first).toEqual({ done: true, value: undefined })

  const refused: Fetch = async () => new Response('', { status: 503, headers: { 'retry-after': '3600' } })
  let isPausing = () => {}
  const pausing = new Promise<void>(resolve => {
    isPausing = resolve
  })
  const connection = createConnection({ ...options, fetch: refused })
  const events = watchAddresses(connection, { addresses, onReconnect: () => isPausing() })
  const waiting = events.next()
  await pausing
  expect(await events.return()).toEqual({ done: true, value: undefined })
  expect(await waiting).toEqual({ done: true, value: undefined })
})
