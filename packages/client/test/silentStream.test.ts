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

function createGate() {
  let resolve = () => {}
  const promise = new Promise<void>(settle => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Answers with a stream that sends nothing, until it is cancelled. @param onRead - called once the stream is read. */
function answerSilently(onRead: () => void, onCancel: () => void): Fetch {
  return async () =>
    new Response(new ReadableStream({ pull: () => onRead(), cancel: onCancel }, { highWaterMark: 0 }), {
      headers: { 'content-type': 'text/event-stream' }
    })
}

test('return() ends an iteration that waits for an event at once, and closes its stream', async () => {
  let cancelled = 0
  const { promise: reading, resolve: onRead } = createGate()
  const connection = createConnection({ ...options, fetch: answerSilently(onRead, () => cancelled++) })
  const events = watchAddresses(connection, { addresses })
  const waiting = events.next()
  await reading
  expect(await events.return()).toEqual({ done: true, value: undefined })
  expect(await waiting).toEqual({ done: true, value: undefined })
  expect(cancelled).toBe(1)
})

test('return() ends an iteration that waits for an answer, or to connect again', async () => {
  const { promise: asking, resolve: onAsk } = createGate()
  const silent: Fetch = (_, init) =>
    new Promise((_resolve, reject) => {
      const { signal } = init as { readonly signal: AbortSignal }
      signal.addEventListener('abort', () => reject(signal.reason))
      onAsk()
    })
  const unanswered = watchAddresses(createConnection({ ...options, fetch: silent }), { addresses })
  const first = unanswered.next()
  await asking
  expect(await unanswered.return()).toEqual({ done: true, value: undefined })
  expect(await first).toEqual({ done: true, value: undefined })

  const refused: Fetch = async () => new Response('', { status: 503, headers: { 'retry-after': '3600' } })
  const { promise: pausing, resolve: onPause } = createGate()
  const connection = createConnection({ ...options, fetch: refused })
  const events = watchAddresses(connection, { addresses, onReconnect: () => onPause() })
  const waiting = events.next()
  await pausing
  expect(await events.return()).toEqual({ done: true, value: undefined })
  expect(await waiting).toEqual({ done: true, value: undefined })
})
