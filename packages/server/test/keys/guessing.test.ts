import { afterEach, describe, expect, it } from 'vitest'
import { openLoginStore } from '../../src/index/openCaches.ts'
import { createServer, type Server } from '../../src/index.ts'
import type { LoginFact, LoginStore } from '../../src/model/loginFact.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { Refusal } from '../../src/platform/refusal.ts'
import { type LoginMemory, openLoginMemory } from '../../src/server/http/loginMemory.ts'
import { createLoginThrottle } from '../../src/server/http/loginThrottle.ts'
import { eventually } from '../support/indexHarness.ts'
import { engines, type TestStore } from '../support/testStores.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const neighbours = '192.0.2.1'
const elsewhere = '192.0.2.2'

async function start(store: TestStore) {
  const server = await createServer(
    {
      store: store.url,
      projects: [
        { projectId: 'shop', serverKey: 'key of the shop' },
        { projectId: 'bank', serverKey: 'guess 1000' }
      ],
      // Longer than this test may take.
      login: { attempts: 20, windowMs: 600_000, longestPauseMs: 900_000 },
      // The guesses leave the event loop no time.
      overload: false,
      chains: { evm: [{ chainId: 5, rpcUrls: ['http://127.0.0.1:1'] }] }
    },
    { logger: silentLogger }
  )
  cleanUps.push(() => server.close())
  return server
}

async function send(server: Server, address: string, projectId: string, key: string): Promise<number> {
  const headers = {
    authorization: `Basic ${btoa(`${projectId}:${key}`)}`,
    'content-type': 'application/json'
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'svc_getSyncStatus', chainId: 5, params: [] })
  const request = new Request('http://server/evm-chain', { method: 'POST', headers, body })
  return (await server.fetch(request, { address })).status
}

/** Sends 2,000 guesses, the right key among them, and the key of an honest neighbour between them. */
async function guess(server: Server): Promise<{ guessed: Map<number, number>; served: Map<number, number> }> {
  const [guessed, served] = [new Map<number, number>(), new Map<number, number>()]
  const count = (statuses: Map<number, number>, status: number) =>
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  for (let number = 0; number < 2_000; number++) {
    count(guessed, await send(server, neighbours, 'bank', `guess ${number}`))
    if (number % 50 === 0) count(served, await send(server, neighbours, 'shop', 'key of the shop'))
  }
  return { guessed, served }
}

describe.each(engines)('2,000 guesses from one address, over $name', engine => {
  it('do not find the key among them, before and after a restart, while a known neighbour is served', async () => {
    const store = await engine.create()
    cleanUps.push(store.remove)
    const first = await start(store)
    expect(await send(first, neighbours, 'shop', 'key of the shop')).toBe(200)
    expect(await guess(first)).toEqual({
      guessed: new Map([
        [401, 20],
        [429, 1_980]
      ]),
      served: new Map([[200, 40]])
    })
    await first.close()

    const second = await start(store)
    expect(await guess(second)).toEqual({
      guessed: new Map([[429, 2_000]]),
      served: new Map([[200, 40]])
    })
    // It is the right one, and nobody else is slowed down.
    expect(await send(second, elsewhere, 'bank', 'guess 1000')).toBe(200)
  })
})

const rule = { attempts: 20, windowMs: 60_000, longestPauseMs: 900_000 }

/** A throttle over a store, as one server has it. `right` are right keys of any project. */
async function startThrottle(store: LoginStore, clock: { readonly ms: number }, attempts = rule.attempts) {
  const memory = await openLoginMemory(() => store, { logger: silentLogger, everyMs: 20 })
  cleanUps.push(memory.close)
  const throttle = createLoginThrottle({ ...rule, attempts }, memory, () => clock.ms)
  const attempt = (projectId: string, key: string): 'right' | 'wrong' | number => {
    try {
      throttle.begin(neighbours, { projectId, key })(key === 'right')
      return key === 'right' ? 'right' : 'wrong'
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal
      return (refusal.data as { retryAfterMs: number }).retryAfterMs
    }
  }
  const guess = (times: number) => {
    for (let time = 0; time < times; time++) attempt('bank', `guess ${time}`)
  }
  return { memory, attempt, guess }
}

describe.each(engines)('what the login throttle remembers, over $name', engine => {
  async function createStore() {
    const { location, remove } = await engine.create()
    cleanUps.push(remove)
    const clock = { ms: Date.now() }
    return { clock, open: () => openLoginStore(location, { maxFacts: 50, now: () => clock.ms }) }
  }

  const factOf = (kind: LoginFact['kind'], name: string, forgetAtMs: number): LoginFact => ({
    ...{ kind, address: neighbours, name, atMs: 1_700_000_000_123, lengthMs: 60_000, count: 3 },
    ...{ digest: 'digest', forgetAtMs }
  })

  it('comes back as it was written, to every server but the one that wrote it', async () => {
    const { clock, open } = await createStore()
    const [one, other] = [open(), open()]
    cleanUps.push(one.close, other.close)
    expect(await other.readSecret()).toBe(await one.readSecret())
    const facts = [factOf('pause', '', clock.ms + 1), factOf('promise', 'grüße', clock.ms + 1)]
    await one.write(facts)
    expect(await other.readNew()).toEqual(facts)
    expect(await other.readNew()).toEqual([])
    expect(await one.readNew()).toEqual([])
    const changed = { ...factOf('pause', '', clock.ms + 1), count: 4 }
    await other.write([changed])
    expect(await one.readNew()).toEqual([changed])
  })

  it('is removed once it means nothing, and beyond the bound', async () => {
    const { clock, open } = await createStore()
    const store = open()
    cleanUps.push(store.close)
    await store.readSecret()
    await store.write([factOf('count', '', clock.ms + 1_000), factOf('pause', '', clock.ms + 9_000)])
    clock.ms += 2_000
    await store.write([factOf('known', 'first', clock.ms + 9_000)])
    const kinds = async () => {
      const reader = open()
      const facts = await reader.readNew()
      await reader.close()
      return facts.map(({ kind, name }) => kind + name)
    }
    expect(await kinds()).toEqual(['pause', 'knownfirst'])
    const many = Array.from({ length: 49 }, (_, index) => factOf('known', `${index}`, clock.ms + 9_000))
    await store.write(many)
    expect(await kinds()).toEqual(['knownfirst', ...many.map(({ name }) => `known${name}`)])
  })

  it('holds a pause and its promises after a crash', async () => {
    const { clock, open } = await createStore()
    const first = await startThrottle(open(), clock)
    first.guess(20)
    expect(first.attempt('shop', 'right')).toBe(60_000)
    const isStored = async () => {
      const reader = open()
      const facts = await reader.readNew()
      await reader.close()
      return facts.some(({ kind }) => kind === 'promise')
    }
    // Without an end in order.
    await expect.poll(isStored).toBe(true)

    const second = await startThrottle(open(), clock)
    expect(second.attempt('shop', 'right')).toBe(60_000)
    clock.ms += 60_000
    expect(second.attempt('bank', 'guess')).toBe('wrong')
    expect(second.attempt('bank', 'guess')).toBe(120_000)
    expect(second.attempt('shop', 'right')).toBe('right')
  })

  it('is shared by servers over one store', async () => {
    const { clock, open } = await createStore()
    const one = await startThrottle(open(), clock)
    // It would never begin a pause by itself.
    const other = await startThrottle(open(), clock, 1_000_000)
    expect(other.attempt('shop', 'right')).toBe('right')
    one.guess(20)
    await eventually(
      'the other server has heard of the pause',
      () => other.attempt('bank', 'guess') === 60_000
    )
    await eventually('this one has heard of the known key', () => one.attempt('shop', 'right') === 'right')
  })

  it('shortens pauses that a clock set wrong has made long', async () => {
    const { clock, open } = await createStore()
    const store = open()
    await store.readSecret()
    const ahead = { ...factOf('pause', '', clock.ms + 9e9), atMs: clock.ms + 8e9 }
    await store.write([ahead])
    await store.close()
    const { attempt } = await startThrottle(open(), clock)
    expect(attempt('shop', 'right')).toBe(rule.longestPauseMs)
  })
})

it('a store that cannot be used leaves a throttle that remembers by itself, which is logged once', async () => {
  const warnings: string[] = []
  const memory: LoginMemory = await openLoginMemory(
    () => {
      throw new Error('damaged')
    },
    { logger: { ...silentLogger, warn: message => warnings.push(message) } }
  )
  const throttle = createLoginThrottle(rule, memory)
  const attempt = () => throttle.begin(neighbours, { projectId: 'bank', key: 'guess' })(false)
  for (let time = 0; time < 20; time++) attempt()
  expect(attempt).toThrow('Too many wrong credentials')
  expect(warnings).toEqual(['what the login throttle remembers cannot be stored; it ends with the process'])
})
