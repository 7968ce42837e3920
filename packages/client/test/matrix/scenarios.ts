import type { ChainDataClientError, ClientOptions } from '../../src/index.ts'
import type { Door, Feature, Opened } from './doors.ts'

/** What a scenario runs with. Nothing here or below needs Node, so that pages and workers run it too. */
export interface MatrixContext {
  /** The entry under test. */
  readonly door: Door
  /** Of the matrix server. */
  readonly serverUrl: string
  /** Everything a log would show of a value, beside what a walk over it finds. */
  readonly inspect?: (value: unknown) => string
}

/** One behaviour, by its title; `run` throws where it does not hold. */
export interface Scenario {
  readonly title: string
  /** What the entry has to have. */
  readonly needs?: Feature
  readonly run: (world: World) => Promise<void>
}

/** A context with the helpers that scenarios share. */
interface World {
  /** The entry, connected to a server that behaves so, on a path of its own. */
  open(behaviour: string, options?: Partial<ClientOptions<'number'>>): Opened
  /** Requests that came to the path of the last one opened. */
  requests(): Promise<number>
  requestsToOther(): Promise<number>
  /** Where the credentials can be found in a value; `[]` when nowhere. */
  findSecret(value: unknown): string[]
}

const projectId = 'projet-é'
const clientKey = 'clé-ключ-鍵/+"\\🔑'

/** The eleven behaviours, then what else must hold in every runtime. */
export const scenarios: readonly Scenario[] = [
  {
    title: 'the deadline covers a body that stalls',
    async run({ open }) {
      const error = await caught(open('stalls-in-the-body', { timeoutMs: 150 }).read())
      same(error.code, 'TIMEOUT', 'code')
    }
  },
  {
    title: 'Retry-After in seconds is waited for',
    async run({ open, requests }) {
      same(await open('asks-for-a-second', { retries: 1 }).read(), [], 'result')
      same(await requests(), 2, 'requests')
    }
  },
  {
    title: 'Retry-After as a date is waited for',
    async run({ open, requests }) {
      same(await open('asks-until-a-date', { retries: 1 }).read(), [], 'result')
      same(await requests(), 2, 'requests')
    }
  },
  {
    title: '429 whose body is an RPC error is that error, and its wait is kept',
    async run({ open }) {
      const error = await caught(open('limits-with-an-rpc-error', { retries: 0 }).read())
      same(
        [error.name, error.reason, error.rpcCode, error.status, error.retryAfterMs, error.retryable],
        ['RpcError', 'RATE_LIMITED', -32005, 429, 20, true],
        'error'
      )
      same(await open('limits-with-an-rpc-error').read(), [], 'result of a retry')
    }
  },
  {
    title: 'a Retry-After beyond maxDelayMs fails at once',
    async run({ open, requests }) {
      const error = await caught(open('asks-for-an-hour', { maxDelayMs: 1000 }).read())
      same([error.reason, error.retryAfterMs], ['RATE_LIMITED', 3_600_000], 'error')
      same(await requests(), 1, 'requests')
    }
  },
  {
    title: '503, 503, 200 recovers',
    async run({ open, requests }) {
      same(await open('fails-twice', { maxDelayMs: 5 }).read(), [], 'result')
      same(await requests(), 3, 'requests')
    }
  },
  {
    title: 'no request, and with it no Authorization, follows a redirect',
    async run({ open, requests, requestsToOther }) {
      const error = await caught(open('redirects').read())
      same(error.code, 'HTTP', 'code')
      same([await requests(), await requestsToOther()], [1, 0], 'requests here and there')
    }
  },
  {
    title: 'HTML with status 200 is an error at once',
    async run({ open, requests }) {
      const error = await caught(open('shows-a-page').read())
      same([error.code, error.reason, error.retryable], ['PROTOCOL', 'NOT_JSON', false], 'error')
      same(await requests(), 1, 'requests')
    }
  },
  {
    title: 'a 64 MB answer is cut off',
    async run({ open, requests }) {
      const error = await caught(open('sends-64-mb', { maxResponseBytes: 2 ** 20 }).read())
      same([error.code, error.retryable], ['RESPONSE_LIMIT', false], 'error')
      same(await requests(), 1, 'requests')
    }
  },
  {
    title: 'no credential is in a thrown error',
    async run({ open, findSecret }) {
      for (const behaviour of ['repeats-the-request', 'shows-a-page', 'redirects', 'asks-for-an-hour']) {
        same(findSecret(await caught(open(behaviour).read())), [], behaviour)
      }
      same(findSecret(await caught(open('says-nothing', { timeoutMs: 50 }).read())), [], 'TIMEOUT')
      same(findSecret({ key: clientKey }).length > 0, true, 'the search finds a credential')
    }
  },
  {
    title: 'no credential is in what the entry shows of itself',
    async run({ open, findSecret }) {
      const { read, shown } = open('answers')
      await read()
      same(findSecret(shown), [], 'entry')
    }
  },
  {
    title: 'the signal ends a call before its headers, before anything else happens',
    needs: 'signal',
    run: world => endsWithItsSignal(world, 'says-nothing')
  },
  {
    title: 'the signal ends a call in its body, before anything else happens',
    needs: 'signal',
    run: world => endsWithItsSignal(world, 'stalls-in-the-body')
  },
  {
    title: 'the signal ends a call in a pause, before anything else happens',
    needs: 'signal',
    run: world => endsWithItsSignal(world, 'asks-for-nine-seconds')
  },
  {
    title: 'a call whose signal fired before sends nothing',
    needs: 'signal',
    async run({ open, requests }) {
      const signal = { aborted: true, addEventListener() {}, removeEventListener() {} }
      same((await caught(open('answers').read({ signal }))).code, 'ABORTED', 'code')
      same(await requests(), 0, 'requests')
    }
  },
  {
    title: 'a call leaves no listener on its signal',
    needs: 'signal',
    async run({ open }) {
      const listeners = new Set<() => void>()
      const signal = {
        aborted: false,
        addEventListener: (_type: 'abort', listener: () => void) => void listeners.add(listener),
        removeEventListener: (_type: 'abort', listener: () => void) => void listeners.delete(listener)
      }
      await open('answers').read({ signal })
      await caught(open('shows-a-page').read({ signal }))
      await caught(open('says-nothing').read({ signal, timeoutMs: 20 }))
      await open('fails-twice', { maxDelayMs: 5 }).read({ signal })
      same(listeners.size, 0, 'listeners')
    }
  },
  {
    title: 'the whole answer is there for who asks',
    needs: 'onAnswer',
    async run({ open }) {
      const seen: unknown[] = []
      await open('fails-twice', { maxDelayMs: 5 }).read({
        onAnswer: ({ header, text, ...answer }) => {
          seen.push({ ...answer, type: header('content-type'), id: JSON.parse(text).id })
        }
      })
      const type = 'application/json'
      same(seen, [{ status: 200, attempts: 3, requestId: 'request-7', type, id: 1 }], 'answers')
    }
  },
  {
    title: 'a stream is read while it arrives, wherever it is split',
    needs: 'watch',
    async run({ open, requests }) {
      const events = await take(2, open('streams-in-pieces').watch?.())
      const second = { kind: 'synced', word: 'clé-鍵-🔑', cursor: '2' }
      same(events, [{ kind: 'synced', cursor: '1' }, second], 'events')
      same(await requests(), 1, 'requests')
    }
  },
  {
    title: 'a stream that breaks is connected again, and goes on after its last event',
    needs: 'watch',
    async run({ open }) {
      const ends: unknown[] = []
      const onReconnect = (error: ChainDataClientError | undefined) => void ends.push(error?.code)
      const events = await take(5, open('breaks-the-stream').watch?.({ after: '0', onReconnect }))
      same(
        events.map(({ cursor }) => cursor),
        ['1', '2', '3', '4', '5'],
        'cursors'
      )
      // A browser asks again by itself where a connection broke before the headers.
      same(ends.includes('HTTP') && ends.includes(undefined), true, 'why it was connected again')
    }
  },
  {
    title: 'a stream without a byte is given up, and goes on after its last event',
    needs: 'watch',
    async run({ open }) {
      const ends: unknown[] = []
      const onReconnect = (error: ChainDataClientError | undefined) => void ends.push(error?.code)
      const watching = open('streams-and-falls-silent').watch?.({ timeoutMs: 300, onReconnect })
      const [first, second] = await take(2, watching)
      same([first?.after, second?.after], [undefined, first?.cursor], 'where it went on')
      same(new Set(ends).size && ends.every(code => code === 'TIMEOUT'), true, 'why it was connected again')
    }
  },
  {
    title: 'a cursor that is too old is a typed error, and so are wrong answers, at once',
    needs: 'watch',
    async run({ open, requests, findSecret }) {
      const reasons = {
        'has-forgotten-the-cursor': 'CURSOR_EXPIRED',
        answers: 'NOT_A_STREAM',
        'shows-a-page': 'NOT_JSON',
        redirects: 'REDIRECT',
        'streams-without-end': 'RESPONSE_LIMIT'
      }
      for (const [behaviour, reason] of Object.entries(reasons)) {
        const error = await caught(take(1, open(behaviour, { maxResponseBytes: 100_000 }).watch?.()))
        const found = error.reason ?? error.code
        same(/^STATUS_3/.test(found) ? 'REDIRECT' : found, reason, behaviour)
        same(await requests(), 1, 'requests')
        same(findSecret(error), [], 'credentials')
      }
    }
  },
  {
    title: 'the signal ends a stream before its headers and within, before anything else happens',
    needs: 'watch',
    async run(world) {
      const read = (watch: Opened['watch']) => async (options?: object) => {
        for await (const _ of watch?.(options) ?? []);
      }
      const opening = (behaviour: string) => ({
        ...world,
        open: () => ({ read: read(world.open(behaviour).watch), shown: 0 })
      })
      await endsWithItsSignal(opening('says-nothing'), 'says-nothing')
      await endsWithItsSignal(opening('streams-and-falls-silent'), 'streams-and-falls-silent')
    }
  },
  {
    title: 'a batch is one request, and each call has its outcome',
    needs: 'batch',
    async run({ open, requests }) {
      const outcome = { status: 'fulfilled', value: [] }
      same(await open('answers').batch?.(), [outcome, outcome], 'outcomes')
      same(await requests(), 1, 'requests')
    }
  }
]

/** The scenarios that an entry has everything for. */
export function scenariosOf({ lacks = [] }: Door): readonly Scenario[] {
  return scenarios.filter(({ needs }) => !needs || !lacks.includes(needs))
}

/** @throws The first thing that does not hold. */
export async function runScenario({ run }: Scenario, context: MatrixContext): Promise<void> {
  const { door, serverUrl, inspect } = context
  let path = ''
  const ask = async (question: string) => Number(await (await fetch(serverUrl + question)).text())
  await run({
    open(behaviour, options) {
      path = `/${behaviour}/${Math.random().toString(36).slice(2)}`
      const baseUrl = serverUrl + path
      return door.open({ baseUrl, projectId, clientKey, chainId: 1, ...options } as never)
    },
    requests: () => ask(`/count${path}${door.endpoint}`),
    requestsToOther: () => ask('/count-of-other'),
    findSecret: value => {
      const texts = [...walk(value), JSON.stringify(value), String(value), inspect?.(value) ?? '']
      return texts.filter(text => secrets().some(secret => text?.includes(secret)))
    }
  })
}

/** Aborts while the call hangs; the outcome must be there before the next turn of the event loop. */
async function endsWithItsSignal({ open, requests }: World, behaviour: string): Promise<void> {
  const controller = new AbortController()
  const outcome = caught(open(behaviour).read({ signal: controller.signal }))
  while ((await requests()) === 0);
  // What the server has sent by now arrives before the answers to these.
  for (let rounds = 0; rounds < 5; rounds++) await requests()
  controller.abort()
  const late = new Promise<string>(resolve => setTimeout(() => resolve('nothing yet'), 0))
  const first = await Promise.race([outcome.then(({ code }) => code), late])
  same(first, 'ABORTED', 'what the signal caused')
}

/** The first events of a stream, which is left then. */
async function take(
  count: number,
  events: ReturnType<NonNullable<Opened['watch']>> | undefined
): Promise<Record<string, unknown>[]> {
  const taken: Record<string, unknown>[] = []
  for await (const event of events ?? []) {
    taken.push(event as never)
    if (taken.length === count) break
  }
  return taken
}

async function caught(promise: Promise<unknown>): Promise<ChainDataClientError> {
  const outcome = await promise.then(
    value => ({ value }),
    (error: unknown) => ({ error })
  )
  if ('error' in outcome) return outcome.error as ChainDataClientError
  throw new Error(`expected a rejection, got ${JSON.stringify(outcome.value)}`)
}

function same(actual: unknown, expected: unknown, what: string): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== should) throw new Error(`${what}: expected ${should}, got ${is}`)
}

/** The key in the forms it travels and is logged in; base64 by a way of its own. */
function secrets(): string[] {
  const bytes = new TextEncoder().encode(`${projectId}:${clientKey}`)
  const token = btoa(String.fromCharCode(...bytes))
  return [clientKey, token, JSON.stringify(clientKey).slice(1, -1), encodeURIComponent(clientKey)]
}

/** Every text that can be reached, through hidden and symbol properties, getters and prototypes too. */
function walk(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'string') return [value]
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
    return []
  seen.add(value)
  const found: string[] = typeof value === 'function' ? [Function.prototype.toString.call(value)] : []
  for (const key of Reflect.ownKeys(value)) {
    found.push(String(key))
    try {
      found.push(...walk((value as Record<PropertyKey, unknown>)[key], seen))
    } catch {
      // A getter that wants another `this`.
    }
  }
  return [...found, ...walk(Object.getPrototypeOf(value), seen)]
}
