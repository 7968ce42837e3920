import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { RecordChunk } from '@chain-data/index/record'
import { buildChain, commitChain, hashOf, people } from '@chain-data/index/test'
import type { TransactionRecord } from '@chain-data/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import type { Listener } from '../../src/server/http/listen.ts'
import { type StartedHistory, startHistory } from './startHistory.ts'
import { authorization, request } from './startService.ts'

const alice = people[3]!
// Some 50 MB of answer: several times what the sockets of both sides hold for themselves.
const blockCount = 250
const perBlock = 300
const total = blockCount * perBlock

let history: StartedHistory
let listener: Listener
/** Chunks that were read from the store, and snapshots open, since the test began. */
let chunksRead = 0
let rowsRead = 0
let snapshotsOpen = 0
/** Called before each chunk is handed on. */
let onChunk: (count: number) => void = () => {}

beforeAll(async () => {
  // A clock that stands still keeps the poll of the pool fresh.
  const startMs = Date.now()
  history = await startHistory({ limits: { streamIdleMs: patient(1_000) }, clock: { now: () => startMs } })
  for (let first = 0; first < blockCount; first += 50) {
    const plans = Array.from({ length: 50 }, (_, block) =>
      Array.from({ length: perBlock }, (_, index) => ({
        name: `${first + block}/${index}`,
        parties: [alice]
      }))
    )
    const parent = first === 0 ? undefined : await history.writer.blockRef(first - 1)
    await commitChain(history.writer, buildChain(plans, parent ? { parent } : {}))
  }
  await history.writer.markBackfilled()
  watch()
  listener = await history.service.listen()
})
afterEach(() => {
  onChunk = () => {}
  chunksRead = 0
  rowsRead = 0
})
afterAll(async () => {
  await listener.close(0)
  await history.dispose()
})

/** Counts what goes out of the real store, without changing it. */
function watch(): void {
  const { reader } = history
  const open = reader.openSnapshot.bind(reader)
  reader.openSnapshot = async () => {
    const snapshot = await open()
    snapshotsOpen++
    const close = snapshot.close.bind(snapshot)
    const read = snapshot.records.bind(snapshot)
    let isOpen = true
    snapshot.close = () => {
      if (isOpen) snapshotsOpen--
      isOpen = false
      return close()
    }
    snapshot.records = async function* (...args): AsyncGenerator<RecordChunk> {
      for await (const chunk of read(...args)) {
        onChunk(++chunksRead)
        rowsRead += chunk.ids.length
        yield chunk
      }
    }
    return snapshot
  }
}

const whole = request('svc_getTransactionsByAddress', [alice])

/** Opens a request whose answer is read by hand. */
async function open(body: string): Promise<IncomingMessage> {
  const outgoing = httpRequest(`${listener.url}/evm-chain`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    agent: false
  })
  outgoing.on('error', () => {})
  outgoing.end(body)
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  incoming.on('error', () => {})
  return incoming
}

async function readAll(incoming: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of incoming.setEncoding('utf8')) text += chunk
  return text
}

/** Waits until a number has not changed for a while. */
async function settled(read: () => number): Promise<number> {
  for (let last = -1; ; ) {
    const now = read()
    if (now === last) return now
    last = now
    await new Promise(resolve => setTimeout(resolve, 150))
  }
}

describe('a whole history', () => {
  it('is streamed complete and in order', async () => {
    const { result } = JSON.parse(await readAll(await open(whole))) as { result: TransactionRecord[] }
    expect(result).toHaveLength(total)
    expect(result[0]?.hash).toBe(hashOf(`${blockCount - 1}/${perBlock - 1}`))
    expect(result.at(-1)?.hash).toBe(hashOf('0/0'))
    expect(new Set(result.map(({ hash }) => hash)).size).toBe(total)
    expect(chunksRead).toBeGreaterThan(20)
    await expect.poll(() => snapshotsOpen).toBe(0)
  })

  it('is read from the store only as fast as the caller takes it', async () => {
    const incoming = await open(whole)
    const paused = await settled(() => chunksRead)
    expect(snapshotsOpen).toBe(1)
    expect(JSON.parse(await readAll(incoming)).result).toHaveLength(total)
    expect(chunksRead).toBeGreaterThan(2 * paused)
  })

  it('is one snapshot: a reorg meanwhile does not mix in', async () => {
    const incoming = await open(whole)
    await settled(() => chunksRead)
    const common = (await history.writer.blockRef(blockCount - 2))!
    await history.writer.rollbackTo(common)
    const plans = Array.from({ length: perBlock }, (_, index) => ({
      name: `${blockCount - 1}/${index}`,
      parties: [alice]
    }))
    await commitChain(
      history.writer,
      buildChain([[{ name: 'new one', parties: [alice] }, ...plans]], { parent: common, fork: 'x' })
    )
    await history.writer.markSettled()
    const { result } = JSON.parse(await readAll(incoming)) as { result: TransactionRecord[] }
    expect(result).toHaveLength(total)
    expect(result.map(({ hash }) => hash)).not.toContain(hashOf('new one'))
    const { result: next } = JSON.parse(await readAll(await open(whole)))
    expect(next).toHaveLength(total + 1)
  })

  it('lets go of the store when the caller leaves', async () => {
    const incoming = await open(whole)
    await settled(() => chunksRead)
    expect(snapshotsOpen).toBe(1)
    incoming.destroy()
    await expect.poll(() => snapshotsOpen).toBe(0)
    expect(history.service.inFlight()).toBe(0)
  })

  it('is cut when the caller takes nothing for too long', async () => {
    const incoming = await open(whole)
    await expect.poll(() => snapshotsOpen, { timeout: patient(5_000) }).toBe(0)
    expect(history.service.inFlight()).toBe(0)
    await expect(readAll(incoming)).rejects.toThrow()
  })

  it('goes through the Fetch handler with the same back-pressure, and may be cancelled', async () => {
    const response = await history.service.post('/evm-chain', whole)
    const reader = response.body!.getReader()
    await reader.read()
    expect(await settled(() => chunksRead)).toBeLessThan(8)
    await reader.cancel()
    expect(snapshotsOpen).toBe(0)
    expect(history.service.inFlight()).toBe(0)
  })

  it('is never more than some chunks ahead of its reader, whatever its length', async () => {
    const response = await history.service.post('/evm-chain', whole)
    const decoder = new TextDecoder()
    let rowsTaken = 0
    let mostAhead = 0
    for await (const bytes of response.body!) {
      mostAhead = Math.max(mostAhead, rowsRead - rowsTaken)
      rowsTaken += decoder.decode(bytes, { stream: true }).split('{"hash"').length - 1
    }
    // The last test but one has added a record.
    expect(rowsTaken).toBeGreaterThanOrEqual(total)
    expect(mostAhead).toBeLessThanOrEqual(1_000)
  })

  it('leaves other requests their turn while it is written as fast as it can be', async () => {
    const incoming = await open(whole)
    let isOver = false
    const text = readAll(incoming).finally(() => {
      isOver = true
    })
    const page = request('svc_getTransactionsByAddress', [alice, { limit: 100 }])
    let pagesBesideIt = 0
    while (!isOver) {
      const { result } = (await (await history.service.post('/evm-chain', page)).json()) as {
        result: unknown[]
      }
      expect(result).toHaveLength(100)
      if (!isOver) pagesBesideIt++
    }
    expect(JSON.parse(await text).result.length).toBeGreaterThanOrEqual(total)
    expect(pagesBesideIt).toBeGreaterThan(10)
  })

  it('that nobody reads does not keep a page from being answered', async () => {
    const unread = await open(whole)
    await settled(() => chunksRead)
    const page = request('svc_getTransactionsByAddress', [alice, { limit: 100 }])
    const answer = await history.service.post('/evm-chain', page)
    expect(((await answer.json()) as { result: unknown[] }).result).toHaveLength(100)
    expect(snapshotsOpen).toBe(1)
    unread.destroy()
    await expect.poll(() => snapshotsOpen).toBe(0)
  })

  it('that nobody reads is given up by the Fetch handler', async () => {
    const response = await history.service.post('/evm-chain', whole)
    expect(snapshotsOpen).toBe(1)
    await expect.poll(() => snapshotsOpen, { timeout: patient(5_000) }).toBe(0)
    await expect(response.text()).rejects.toThrow()
  })
})

describe('a history that fails after it began', () => {
  const failAt = (chunk: number) => {
    onChunk = count => {
      if (count === chunk) throw new Error('disk I/O error')
    }
  }

  it('is cut, so that no well-formed wrong answer exists', async () => {
    failAt(10)
    const incoming = await open(whole)
    await expect(readAll(incoming)).rejects.toThrow()
    expect(incoming.complete).toBe(false)
    await expect.poll(() => snapshotsOpen).toBe(0)
    expect(history.service.inFlight()).toBe(0)
  })

  it('is cut through the Fetch handler as well', async () => {
    failAt(10)
    const response = await history.service.post('/evm-chain', whole)
    await expect(response.text()).rejects.toThrow('disk I/O error')
  })

  it('is an ordinary error while nothing was sent', async () => {
    failAt(1)
    const response = await history.service.post('/evm-chain', whole)
    expect(await response.json()).toMatchObject({ error: { code: -32603, data: { reason: 'INTERNAL' } } })
    expect(snapshotsOpen).toBe(0)
  })

  it('cuts the batch that it is part of', async () => {
    failAt(10)
    await expect(readAll(await open(`[${request('svc_nope', [])},${whole}]`))).rejects.toThrow()
    await expect.poll(() => snapshotsOpen).toBe(0)
  })
})

describe('in a batch', () => {
  it('streams stand in their order between short answers', async () => {
    const page = (id: number, limit: number) =>
      request('svc_getTransactionsByAddress', [alice, { limit }], { id })
    const batch = `[${page(1, 2)},${whole.replace('"id":1', '"id":"w"')},${request('svc_nope', [], { id: 3 })},${page(4, 1)}]`
    const answers = JSON.parse(await readAll(await open(batch))) as { id: unknown; result?: unknown[] }[]
    expect(answers.map(({ id, result }) => [id, result?.length])).toEqual([
      [1, 2],
      ['w', total + 1],
      [3, undefined],
      [4, 1]
    ])
    await expect.poll(() => snapshotsOpen).toBe(0)
  })

  it('many whole histories are read ahead by a few chunks each of a few of them', async () => {
    const response = await history.service.post('/evm-chain', `[${Array(100).fill(whole).join()}]`)
    const reader = response.body!.getReader()
    await reader.read()
    await settled(() => rowsRead)
    expect(rowsRead).toBeLessThanOrEqual(8 * 1_000)
    await reader.cancel()
    await expect.poll(() => snapshotsOpen).toBe(0)
  })

  it('many whole histories hold few snapshots open, and none when the caller leaves', async () => {
    const incoming = await open(`[${Array(40).fill(whole).join()}]`)
    await settled(() => chunksRead)
    expect(snapshotsOpen).toBeLessThanOrEqual(8)
    expect(snapshotsOpen).toBeGreaterThan(0)
    incoming.destroy()
    await expect.poll(() => snapshotsOpen).toBe(0)
    expect(history.service.inFlight()).toBe(0)
  })
})
