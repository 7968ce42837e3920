import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRoute } from '@chain-data/client/route'
import { eventually } from '@chain-data/index/test'
import { checkResult } from '@chain-data/protocol/validators'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { toNodeListener } from '../../../../examples/proxy/toNodeListener.ts'
import type { Listener } from '../../src/server/http/listen.ts'
import { createKeyRing } from '../../src/server/projects/createKeyRing.ts'
import { authorization, projects } from '../http/startService.ts'
import { added, addressOf, createScriptedLog, hashOf, type ScriptedLog } from './scriptedLog.ts'
import { openStream, readStream, startStreams, watchBody } from './startStreams.ts'

const [alice, bob, carol] = [addressOf(0xa), addressOf(0xb), addressOf(0xc)]

let log: ScriptedLog
let service: ReturnType<typeof startStreams>
let listener: Listener
const keyRing = createKeyRing(projects)
beforeEach(async () => {
  log = createScriptedLog()
  keyRing.replace(projects)
  service = startStreams(log, { keyRing, limits: { streams: 8 } })
  listener = await service.listen()
})
afterEach(async () => {
  service.beginClosing()
  await listener.close(0)
})

const watch = (addresses: readonly string[], options = {}) => openStream(listener.url, addresses, options)
const hashes = (events: readonly { value: Record<string, unknown> }[]) =>
  events.map(({ value }) => value.hash ?? (value.record as { hash: string }).hash)

async function refusal(body: string, headers: Record<string, string> = {}) {
  const answer = await service.post('/evm-chain', body, {
    headers: { accept: 'text/event-stream', ...headers }
  })
  const [first] = [await answer.json()].flat() as {
    error: { data: { reason: string; extraMessage: string } }
  }[]
  return { status: answer.status, ...first?.error.data }
}

describe('a stream', () => {
  it('begins level with the index, and tells of the changes of its addresses alone, as the document has them', async () => {
    const stream = await watch([alice.toUpperCase().replace('0X', '0x'), bob])
    const first = await stream.next()
    expect(first.value).toEqual({ kind: 'synced', head: { blockNumber: 0, blockHash: hashOf(0) } })
    log.commit(added(1, [carol]), added(2, [alice, bob]), added(3, [bob, carol]))
    const [second, third] = [await stream.next(), await stream.next()]
    expect(hashes([second, third])).toEqual([hashOf(2), hashOf(3)])
    expect((second.value.addresses as string[]).map(each => each.toLowerCase())).toEqual([alice, bob])
    expect((third.value.addresses as string[]).map(each => each.toLowerCase())).toEqual([bob])
    log.commit({
      kind: 'removed',
      hash: hashOf(2),
      parties: [alice],
      reason: 'replaced',
      replacedBy: hashOf(9)
    })
    log.commit({ kind: 'final', hash: hashOf(3), parties: [bob], block: { number: 7, hash: hashOf(7) } })
    const [gone, final] = [await stream.nextChange(), await stream.nextChange()]
    expect(gone.value).toMatchObject({
      kind: 'removed',
      hash: hashOf(2),
      reason: 'replaced',
      replacedBy: hashOf(9)
    })
    expect(final.value).toMatchObject({ kind: 'final', block: { blockNumber: 7, blockHash: hashOf(7) } })
    const events = [first, second, third, gone, final]
    expect(
      checkResult(
        'svc_watchAddresses',
        events.map(({ value }) => value)
      )
    ).toBeUndefined()
    const ids = events.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].sort())
    stream.cut()
  })

  it('is level after the changes of each commit, at once, and after a commit without changes as seldom as before', async () => {
    const stream = await watch([alice])
    await stream.next()
    log.commit(added(1, [alice]), added(2, [alice]))
    const kinds = [await stream.next(), await stream.next(), await stream.next()].map(
      ({ value }) => value.kind
    )
    expect(kinds).toEqual(['added', 'added', 'synced'])
    log.commit(added(3, [bob]))
    // More than a queue holds.
    log.commit(added(4, [alice], 100_000))
    const [change, level] = [await stream.next(), await stream.next()]
    expect(hashes([change])).toEqual([hashOf(4)])
    expect(level.value).toMatchObject({ kind: 'synced', head: { blockNumber: 3 } })
    stream.cut()
  })

  it('is neither kept nor collected nor compressed on its way', async () => {
    const { answer, cut } = await watch([alice], { headers: { 'accept-encoding': 'gzip, zstd' } })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no'
    })
    expect(answer.headers.get('content-encoding')).toBeNull()
    cut()
  })

  it('goes on after a cursor, exactly once, whichever server it comes to', async () => {
    const stream = await watch([alice])
    await stream.next()
    for (let number = 1; number <= 5; number++)
      log.commit(added(number, [alice]), added(number + 100, [alice]))
    const seen = [await stream.nextChange(), await stream.nextChange(), await stream.nextChange()]
    stream.cut()
    const other = startStreams(log)
    const elsewhere = await other.listen()
    const { id } = seen[2]!
    const rest = await openStream(elsewhere.url, [alice], { after: id })
    for (let count = 0; count < 7; count++) seen.push(await rest.nextChange())
    expect(hashes(seen)).toEqual([1, 101, 2, 102, 3, 103, 4, 104, 5, 105].map(hashOf))
    // The header goes before `after`, which a reader that reconnects sends again.
    const again = await openStream(elsewhere.url, [alice], {
      after: id,
      headers: { 'last-event-id': seen[8]!.id }
    })
    expect(hashes([await again.next()])).toEqual([hashOf(105)])
    expect((await again.next()).value.kind).toBe('synced')
    rest.cut()
    again.cut()
    other.beginClosing()
    await elsewhere.close(0)
  })

  it('with attached parts has an event for each address, and goes on between them', async () => {
    const options = { include: ['transfers'] }
    const stream = await watch([carol, alice, bob], options)
    await stream.next()
    log.commit(added(1, [alice]), added(2, [alice, bob, carol]), added(3, [bob]))
    const seen = [await stream.next(), await stream.next(), await stream.next()]
    stream.cut()
    const rest = await watch([carol, alice, bob], { ...options, after: seen[2]!.id })
    const events = [...seen, await rest.next(), await rest.next()]
    const told = events.map(({ value }) => (value.addresses as string[]).map(each => each.toLowerCase()))
    expect(told).toEqual([[alice], [alice], [bob], [carol], [bob]])
    expect(hashes(events)).toEqual([1, 2, 2, 2, 3].map(hashOf))
    const ids = events.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].sort())
    rest.cut()
  })

  it('waits for a replica that is behind its cursor', async () => {
    const stream = await watch([alice])
    await stream.next()
    log.commit(added(1, [alice]))
    const { id } = await stream.next()
    log.lag = 1
    const opening = watch([alice], { after: id })
    setTimeout(() => (log.lag = 0), 120)
    expect((await (await opening).next()).value.kind).toBe('synced')
  })

  it('outlasts a store that is away', async () => {
    const stream = await watch([alice])
    await stream.next()
    log.failures = 1
    log.commit(added(1, [alice]))
    expect(hashes([await stream.next()])).toEqual([hashOf(1)])
    expect(service.failures).toHaveLength(1)
    stream.cut()
  })

  it('says nothing of being level in the middle of a reorg', async () => {
    const stream = await watch([alice])
    const { id } = await stream.next()
    // A reorg is an entry, too.
    log.isSettled = false
    log.commit()
    const late = await watch([alice], { after: id })
    log.commit(added(1, [alice]))
    expect((await late.next()).value.kind).toBe('added')
    log.isSettled = true
    log.commit()
    expect((await late.next()).value).toMatchObject({ kind: 'synced', head: { blockNumber: 3 } })
    stream.cut()
    late.cut()
  })
})

describe('a stream is refused', () => {
  it.each([
    ['in a batch', `[${watchBody([alice])}]`, {}, 'in a batch'],
    ['where its caller accepts anything', watchBody([alice]), { accept: '*/*' }, 'accept: text/event-stream'],
    ['where its caller wants none', watchBody([alice]), { accept: 'text/event-stream;q=0' }, 'accept: text']
  ])('%s', async (_, body, headers, words) => {
    const { status, reason, extraMessage } = await refusal(body, headers)
    expect([status, reason]).toEqual([200, 'INVALID_REQUEST'])
    expect(extraMessage).toContain(words)
  })

  it('after a cursor that is too old, of another index, or none', async () => {
    const stream = await watch([alice])
    const { id } = await stream.next()
    for (let number = 1; number <= 3; number++) log.commit(added(number, [alice]))
    await stream.next()
    log.prune(2)
    const old = await refusal(watchBody([alice], { after: id }))
    expect(old.reason).toBe('CURSOR_EXPIRED')
    expect(old.extraMessage).toContain('Read the history again')
    expect((await refusal(watchBody([alice]), { 'last-event-id': 'what is this' })).reason).toBe(
      'CURSOR_EXPIRED'
    )
    log.reset()
    await stream.ended()
    expect((await refusal(watchBody([alice], { after: id }))).reason).toBe('CURSOR_EXPIRED')
  })

  it('beyond the share of its caller, until another one ends', async () => {
    const streams = await Promise.all(Array.from({ length: 6 }, () => watch([alice])))
    const { status, reason } = await refusal(watchBody([alice]))
    expect([status, reason]).toEqual([429, 'RATE_LIMITED'])
    streams[0]!.cut()
    await eventually('the stream is given back', async () => (await watch([alice])).answer.status === 200)
    for (const stream of streams) stream.cut()
  })
})

describe('a stream ends', () => {
  it('with a comment when its server does, and goes on at another one', async () => {
    const stream = await watch([alice])
    const { id } = await stream.next()
    service.beginClosing()
    log.commit(added(1, [alice]))
    await stream.ended()
    expect(stream.text()).toMatch(/\n: the server is shutting down, connect again\n\n$/)
    const other = startStreams(log)
    const answer = await other.post('/evm-chain', watchBody([alice], { after: id }), {
      headers: { accept: 'text/event-stream' }
    })
    expect(hashes([await readStream(answer).next()])).toEqual([hashOf(1)])
    other.beginClosing()
  })

  it('without another event when its key is taken away', async () => {
    const stream = await watch([alice])
    await stream.next()
    keyRing.replace([{ projectId: 'demo', serverKey: 'another-server-key' }])
    log.commit(added(1, [alice]))
    await stream.ended()
    expect(stream.text()).not.toContain('"added"')
    expect(stream.text()).toMatch(/\n: the key is not valid any more\n\n$/)
  })

  it('when its caller goes, also one who never read', async () => {
    const streams = [await watch([alice]), await watch([bob])]
    await streams[0]!.next()
    expect(service.figures()).toMatchObject([{ chainId: 1, streams: 2 }])
    for (const stream of streams) stream.cut()
    await eventually('no stream is left', () => service.figures()[0]?.streams === 0)
    expect([log.listeners, log.openSnapshots]).toEqual([0, 0])
  })
})

describe('many streams', () => {
  it('share one reading of the log', async () => {
    const streams = await Promise.all([alice, bob, carol, alice].map(address => watch([address])))
    await Promise.all(streams.map(stream => stream.next()))
    const before = log.reads
    log.commit(added(1, [alice, bob, carol]))
    await Promise.all(streams.map(stream => stream.next()))
    expect(log.reads - before).toBe(1)
    for (const stream of streams) stream.cut()
  })

  it('each tell of everything once and in order, whenever they begin while the log goes on', async () => {
    const begin = await watch([alice])
    const { id: after } = await begin.next()
    const total = 200
    const roomy = startStreams(log)
    const readings: Promise<unknown[]>[] = []
    const readAll = async () => {
      const headers = { accept: 'text/event-stream' }
      const stream = readStream(await roomy.post('/evm-chain', watchBody([alice], { after }), { headers }))
      const seen = []
      while (seen.length < total) seen.push(await stream.nextChange())
      return hashes(seen)
    }
    for (let number = 1; number <= total; number++) {
      log.commit(added(number, [alice]))
      // Begun at every point of the readings of the others.
      if (number % 4 === 0) readings.push(readAll())
      for (let turn = 0; turn < number % 7; turn++) await new Promise(setImmediate)
    }
    const expected = Array.from({ length: total }, (_, index) => hashOf(index + 1))
    for (const seen of await Promise.all(readings)) expect(seen).toEqual(expected)
    begin.cut()
    roomy.beginClosing()
  })

  it('tell of a change once, also where one has seen it before the reading that they share', async () => {
    const first = await watch([alice])
    const { id: after } = await first.next()
    let release = () => {}
    log.sharedReading = new Promise<void>(resolve => {
      release = resolve
    })
    log.commit(added(1, [alice]))
    const second = await watch([alice], { after })
    expect(hashes([await second.next()])).toEqual([hashOf(1)])
    expect((await second.next()).value.kind).toBe('synced')
    release()
    log.commit(added(2, [alice]))
    expect(hashes([await first.nextChange(), await first.nextChange()])).toEqual([1, 2].map(hashOf))
    expect(hashes([await second.nextChange()])).toEqual([hashOf(2)])
    first.cut()
    second.cut()
  })

  it('are not held up by one that is not read, which gets everything once it reads', async () => {
    // Read through Fetch, so that no socket takes anything ahead.
    const headers = { accept: 'text/event-stream' }
    const slow = readStream(await service.post('/evm-chain', watchBody([alice]), { headers }))
    const quick = await watch([alice])
    await slow.next()
    await quick.next()
    const count = 300
    for (let number = 1; number <= count; number++) {
      log.commit(added(number, [alice], 500))
      expect(hashes([await quick.nextChange()])).toEqual([hashOf(number)])
    }
    expect(service.figures()[0]).toMatchObject({ behind: 1 })
    const seen = []
    for (let number = 1; number <= count; number++) seen.push(await slow.nextChange())
    expect(hashes(seen)).toEqual(Array.from({ length: count }, (_, index) => hashOf(index + 1)))
    log.commit(added(count + 1, [alice]))
    expect(hashes([await slow.nextChange()])).toEqual([hashOf(count + 1)])
    quick.cut()
  })
})

it('a page may open a stream with a key for its origin', async () => {
  const origin = 'https://dapp.example'
  const credentials = `Basic ${Buffer.from('demo:demo-client-key').toString('base64')}`
  const { answer, cut } = await watch([alice], { headers: { origin, authorization: credentials } })
  expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
  cut()
  const asked = await service.fetch(
    new Request('http://service/evm-chain', {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-headers': 'last-event-id' }
    })
  )
  expect(asked.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('last-event-id')
  expect(authorization).not.toBe(credentials)
})

describe('behind a host with a route', () => {
  it('a page gets events as they come, with the headers that keep them so, and goes on after the last one', async () => {
    const [projectId, serverKey] = ['demo', 'demo-server-key']
    const route = createRoute({ baseUrl: listener.url, projectId, serverKey, allow: ['svc_watchAddresses'] })
    const host = createServer(toNodeListener(route)).listen(0, '127.0.0.1')
    await once(host, 'listening')
    const url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
    const own = { authorization: '', 'sec-fetch-site': 'same-origin' }
    const stream = await openStream(url, [alice], { headers: own })
    expect(Object.fromEntries(stream.answer.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no'
    })
    const { id } = await stream.next()
    log.commit(added(1, [alice]))
    log.commit(added(2, [alice]))
    expect(hashes([await stream.nextChange(), await stream.nextChange()])).toEqual([hashOf(1), hashOf(2)])
    const ask = (headers: Record<string, string>) =>
      openStream(url, [alice], { headers: { ...own, ...headers } })
    const json = await ask({ accept: 'application/json' })
    expect(await json.answer.json()).toMatchObject({ error: { data: { reason: 'INVALID_REQUEST' } } })
    stream.cut()
    await eventually('the stream is given back', () => service.figures()[0]?.streams === 0)
    const again = await ask({ 'last-event-id': id })
    expect(hashes([await again.next()])).toEqual([hashOf(1)])
    again.cut()
    await eventually('nothing is left at the service', () => service.figures()[0]?.streams === 0)
    host.closeAllConnections()
    host.close()
  })
})
