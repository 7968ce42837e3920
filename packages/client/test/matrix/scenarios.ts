import type { ChainDataClientError, ChainOptional, Client, ClientOptions } from '../../src/index.ts'

/** What a scenario runs with. Nothing here or below needs Node, so that pages and workers run it too. */
export interface MatrixContext {
  /** The client under test; either entry's `createClient`. */
  readonly createClient: (options: ClientOptions<'number'> & { chainId: number }) => Client<ChainOptional>
  /** Of the matrix server. */
  readonly serverUrl: string
  /** Everything a log would show of a value, beside what a walk over it finds. */
  readonly inspect?: (value: unknown) => string
}

/** One behaviour, by its title; `run` throws where it does not hold. */
export interface Scenario {
  readonly title: string
  readonly run: (world: World) => Promise<void>
}

/** A context with the helpers that scenarios share. */
interface World {
  /** A client of a server that behaves so, on a path of its own. */
  client(behaviour: string, options?: Partial<ClientOptions<'number'>>): Client<ChainOptional>
  /** Requests that came to the path of the last client. */
  requests(): Promise<number>
  requestsToOther(): Promise<number>
  /** Where the credentials can be found in a value; `[]` when nowhere. */
  findSecret(value: unknown): string[]
}

const projectId = 'projet-é'
const clientKey = 'clé-ключ-鍵/+"\\🔑'
const address = '0x425249Cf0F2f91f488E24cF7B1AA3186748f7516'

/** The eleven behaviours, then what else must hold in every runtime. */
export const scenarios: readonly Scenario[] = [
  {
    title: 'the deadline covers a body that stalls',
    async run({ client }) {
      const error = await caught(read(client('stalls-in-the-body', { timeoutMs: 150 })))
      same(error.code, 'TIMEOUT', 'code')
    }
  },
  {
    title: 'Retry-After in seconds is waited for',
    async run({ client, requests }) {
      same(await read(client('asks-for-a-second', { retries: 1 })), [], 'result')
      same(await requests(), 2, 'requests')
    }
  },
  {
    title: 'Retry-After as a date is waited for',
    async run({ client, requests }) {
      same(await read(client('asks-until-a-date', { retries: 1 })), [], 'result')
      same(await requests(), 2, 'requests')
    }
  },
  {
    title: '429 whose body is an RPC error is that error, and its wait is kept',
    async run({ client }) {
      const error = await caught(read(client('limits-with-an-rpc-error', { retries: 0 })))
      same(
        [error.name, error.reason, error.rpcCode, error.status, error.retryAfterMs, error.retryable],
        ['RpcError', 'RATE_LIMITED', -32005, 429, 20, true],
        'error'
      )
      same(await read(client('limits-with-an-rpc-error')), [], 'result of a retry')
    }
  },
  {
    title: 'a Retry-After beyond maxDelayMs fails at once',
    async run({ client, requests }) {
      const error = await caught(read(client('asks-for-an-hour', { maxDelayMs: 1000 })))
      same([error.reason, error.retryAfterMs], ['RATE_LIMITED', 3_600_000], 'error')
      same(await requests(), 1, 'requests')
    }
  },
  {
    title: '503, 503, 200 recovers',
    async run({ client, requests }) {
      let attempts = 0
      const onAnswer = (answer: { attempts: number }) => {
        attempts = answer.attempts
      }
      same(await read(client('fails-twice', { maxDelayMs: 5 }), { onAnswer }), [], 'result')
      same([attempts, await requests()], [3, 3], 'attempts and requests')
    }
  },
  {
    title: 'no request, and with it no Authorization, follows a redirect',
    async run({ client, requests, requestsToOther }) {
      const error = await caught(read(client('redirects')))
      same(error.code, 'HTTP', 'code')
      same([await requests(), await requestsToOther()], [1, 0], 'requests here and there')
    }
  },
  {
    title: 'HTML with status 200 is an error at once',
    async run({ client, requests }) {
      const error = await caught(read(client('shows-a-page')))
      same([error.code, error.reason, error.retryable], ['PROTOCOL', 'NOT_JSON', false], 'error')
      same(await requests(), 1, 'requests')
    }
  },
  {
    title: 'a 64 MB answer is cut off',
    async run({ client, requests }) {
      const error = await caught(read(client('sends-64-mb', { maxResponseBytes: 2 ** 20 })))
      same([error.code, error.retryable], ['RESPONSE_LIMIT', false], 'error')
      same(await requests(), 1, 'requests')
    }
  },
  {
    title: 'no credential is in a thrown error',
    async run({ client, findSecret }) {
      for (const behaviour of ['repeats-the-request', 'shows-a-page', 'redirects', 'asks-for-an-hour']) {
        same(findSecret(await caught(read(client(behaviour)))), [], behaviour)
      }
      same(findSecret(await caught(read(client('says-nothing', { timeoutMs: 50 })))), [], 'TIMEOUT')
      same(findSecret({ key: clientKey }).length > 0, true, 'the search finds a credential')
    }
  },
  {
    title: 'no credential is in what the client shows of itself',
    async run({ client, findSecret }) {
      const shown = client('answers')
      await read(shown)
      same(findSecret(shown), [], 'client')
    }
  },
  {
    title: 'the signal ends a call before its headers, before anything else happens',
    run: world => endsWithItsSignal(world, 'says-nothing')
  },
  {
    title: 'the signal ends a call in its body, before anything else happens',
    run: world => endsWithItsSignal(world, 'stalls-in-the-body')
  },
  {
    title: 'the signal ends a call in a pause, before anything else happens',
    run: world => endsWithItsSignal(world, 'asks-for-a-second')
  },
  {
    title: 'a call whose signal fired before sends nothing',
    async run({ client, requests }) {
      const signal = { aborted: true, addEventListener() {}, removeEventListener() {} }
      same((await caught(read(client('answers'), { signal }))).code, 'ABORTED', 'code')
      same(await requests(), 0, 'requests')
    }
  },
  {
    title: 'a call leaves no listener on its signal',
    async run({ client }) {
      const listeners = new Set<() => void>()
      const signal = {
        aborted: false,
        addEventListener: (_type: 'abort', listener: () => void) => void listeners.add(listener),
        removeEventListener: (_type: 'abort', listener: () => void) => void listeners.delete(listener)
      }
      await read(client('answers'), { signal })
      await caught(read(client('shows-a-page'), { signal }))
      await caught(read(client('says-nothing'), { signal, timeoutMs: 20 }))
      await read(client('fails-twice', { maxDelayMs: 5 }), { signal })
      same(listeners.size, 0, 'listeners')
    }
  },
  {
    title: 'the whole answer is there for who asks',
    async run({ client }) {
      const seen: unknown[] = []
      await read(client('answers'), {
        onAnswer: ({ header, ...answer }) => seen.push({ ...answer, type: header('content-type') })
      })
      const text = '{"jsonrpc":"2.0","id":1,"result":[]}'
      const type = 'application/json'
      same(seen, [{ status: 200, text, attempts: 1, requestId: 'request-7', type }], 'answers')
    }
  },
  {
    title: 'a batch is one request, and each call has its outcome',
    async run({ client, requests }) {
      const call = { method: 'svc_getTransactionsByAddress', params: [address] } as const
      const outcome = { status: 'fulfilled', value: [] }
      same(await client('answers').batch([call, call]), [outcome, outcome], 'outcomes')
      same(await requests(), 1, 'requests')
    }
  }
]

/** @throws The first thing that does not hold. */
export async function runScenario({ run }: Scenario, context: MatrixContext): Promise<void> {
  const { createClient, serverUrl, inspect } = context
  let path = ''
  const ask = async (question: string) => Number(await (await fetch(serverUrl + question)).text())
  await run({
    client(behaviour, options) {
      path = `/${behaviour}/${Math.random().toString(36).slice(2)}`
      const baseUrl = serverUrl + path
      return createClient({ baseUrl, projectId, clientKey, chainId: 1, ...options } as never)
    },
    requests: () => ask(`/count${path}/evm-chain`),
    requestsToOther: () => ask('/count-of-other'),
    findSecret: value => {
      const texts = [...walk(value), JSON.stringify(value), String(value), inspect?.(value) ?? '']
      return texts.filter(text => secrets().some(secret => text?.includes(secret)))
    }
  })
}

type Extra = Parameters<Client<ChainOptional>['getTransactionsByAddress']>[0]

function read(client: Client<ChainOptional>, extra: Omit<Extra, 'address'> = {}): Promise<unknown> {
  return client.getTransactionsByAddress({ address, ...extra })
}

/** Aborts while the call hangs; the outcome must be there before the next turn of the event loop. */
async function endsWithItsSignal({ client, requests }: World, behaviour: string): Promise<void> {
  const controller = new AbortController()
  const outcome = caught(read(client(behaviour), { signal: controller.signal }))
  while ((await requests()) === 0);
  // What the server has sent by now arrives before the answers to these.
  for (let rounds = 0; rounds < 5; rounds++) await requests()
  controller.abort()
  const late = new Promise<string>(resolve => setTimeout(() => resolve('nothing yet'), 0))
  const first = await Promise.race([outcome.then(({ code }) => code), late])
  same(first, 'ABORTED', 'what the signal caused')
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
