import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { createClient as createAxiosClient } from '@chain-data/client'
import { createClient as createFetchClient } from '@chain-data/client/fetch'
import { buildChain, commitChain, hashOf, people } from '@chain-data/index/test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Arrival } from '../../src/server/guards/guards.ts'
import { compressAnswers } from '../../src/server/http/compress.ts'
import type { Listener } from '../../src/server/http/listen.ts'
import { ResultStream } from '../../src/server/methods/MethodContext.ts'
import { type StartedHistory, startHistory } from './startHistory.ts'
import { authorization, request, startService } from './startService.ts'

const [alice = '0x', bob = '0x'] = people
const decoders = { gzip: gunzipSync, zstd: zstdDecompressSync, '': (bytes: Buffer) => bytes }

let history: StartedHistory
let listener: Listener

beforeAll(async () => {
  const startMs = Date.now()
  history = await startHistory({ clock: { now: () => startMs }, cacheBytes: 2 ** 24 })
  const plans = Array.from({ length: 40 }, (_, block) =>
    Array.from({ length: 100 }, (_, index) => ({ name: `${block}/${index}`, parties: [alice] }))
  )
  await commitChain(history.writer, buildChain(plans))
  await history.writer.markBackfilled()
  listener = await history.service.listen()
})
afterAll(async () => {
  await listener.close(0)
  await history.dispose()
})

/** Asks on a connection of its own. */
async function ask(body: string, headers: Record<string, string> = {}, url = listener.url) {
  const asking = httpRequest(`${url}/evm-chain`, {
    method: 'POST',
    agent: false,
    headers: { authorization, 'content-type': 'application/json', ...headers }
  })
  asking.end(body)
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  const bytes = Buffer.concat(chunks)
  const coding = (answer.headers['content-encoding'] ?? '') as keyof typeof decoders
  return {
    status: answer.statusCode,
    headers: answer.headers,
    coding,
    bytes,
    text: decoders[coding](bytes).toString()
  }
}

const page = (id: unknown = 1, limit = 100) =>
  request('svc_getTransactionsByAddress', [alice, { limit }], { id })
const whole = request('svc_getTransactionsByAddress', [alice])

describe.each([
  ['zstd', 'gzip, deflate, br, zstd'],
  ['gzip', 'gzip, compress, deflate, br']
])('an answer with %s', (coding, accepted) => {
  const accept = { 'accept-encoding': accepted }

  it('is what it is without, whether it is read, kept, streamed or a batch, whatever the id', async () => {
    for (const id of [1, 7, 'é "quoted" 💥', -(2 ** 53) + 1, 1]) {
      const plain = await ask(page(id))
      for (let round = 0; round < 3; round++) {
        const coded = await ask(page(id), accept)
        expect([coded.coding, coded.text === plain.text]).toEqual([coding, true])
        expect(coded.bytes.length).toBeLessThan(plain.bytes.length / 3)
        expect(coded.headers['content-length']).toBe(String(coded.bytes.length))
      }
    }
    for (const body of [whole, `[${whole},${page(2)},${page(3)}]`]) {
      const [plain, coded] = [await ask(body), await ask(body, accept)]
      expect([coded.coding, coded.text === plain.text]).toEqual([coding, true])
      expect(coded.bytes.length).toBeLessThan(plain.bytes.length / 3)
    }
  })

  it('is whole for each of many callers at once', async () => {
    const plain = await ask(whole)
    const all = await Promise.all(Array.from({ length: 30 }, (_, i) => ask(i % 2 ? whole : page(), accept)))
    const texts = new Set(all.map(({ text }) => text))
    expect([...texts].sort()).toEqual([(await ask(page())).text, plain.text].sort())
    // Streams beyond some at once go out as they are.
    expect(new Set(all.map(one => one.coding))).toContain('')
    expect((await ask(whole, accept)).coding).toBe(coding)
  })

  it('is cut where the same answer without it would be', async () => {
    async function* failing() {
      for (let chunk = 0; chunk < 20; chunk++) yield [hashOf(String(chunk)).repeat(3_000)]
      throw new Error('the store is gone')
    }
    let open = 0
    const service = startService({
      handlers: {
        svc_getTransactionsByAddress: async () => {
          open++
          return new ResultStream(failing(), async () => void open--)
        }
      }
    })
    const other = await service.listen()
    for (const headers of [{}, accept]) {
      await expect(ask(whole, headers, other.url)).rejects.toThrow('aborted')
    }
    expect(open).toBe(0)
    await other.close(0)
  })
})

describe('an answer without a coding', () => {
  it.each(['', 'identity', 'br', 'gzip;q=0, zstd;q=0', 'gzip;q=2', `gzip${', a'.repeat(2_000)}`])(
    'goes to a caller who accepts %j',
    async accepted => {
      const answer = await ask(page(), { 'accept-encoding': accepted })
      expect([answer.status, answer.coding, answer.headers.vary]).toEqual([
        200,
        '',
        expect.stringMatching(/accept-encoding$/)
      ])
    }
  )

  it('comes from the Fetch handler, whose host compresses', async () => {
    const answer = await history.service.post('/evm-chain', page(), {
      headers: { 'accept-encoding': 'gzip' }
    })
    expect(answer.headers.get('content-encoding')).toBeNull()
    expect(await answer.text()).toBe((await ask(page())).text)
  })

  it('is short, unless the caller refuses it as it is', async () => {
    const short = request('svc_getTransactionsByAddress', [bob, { limit: 5 }])
    expect((await ask(short, { 'accept-encoding': 'gzip' })).coding).toBe('')
    expect((await ask(short, { 'accept-encoding': 'gzip, identity;q=0' })).coding).toBe('gzip')
    expect((await ask('{', { 'accept-encoding': 'gzip' })).coding).toBe('')
  })

  it('is given by a busy server, unless the caller refuses it', async () => {
    const guard = compressAnswers(() => true)
    const pass = async (accepted: string) => {
      const call = { answerHeaders: {}, request: { header: () => accepted } } as unknown as Arrival
      const answer = await guard.finish?.(call, { status: 200, headers: {}, body: 'x'.repeat(5_000) })
      return answer?.headers
    }
    expect(await pass('gzip')).toEqual({})
    expect(await pass('gzip, identity;q=0')).toEqual({ 'content-encoding': 'gzip' })
  })
})

it.each([
  ['axios', createAxiosClient],
  ['fetch', createFetchClient]
])('the client over %s reads compressed answers', async (_, createClient) => {
  const accepted: unknown[] = []
  const server = createServer((incoming, response) => {
    accepted.push(incoming.headers['accept-encoding'])
    history.service.nodeHandler(incoming, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const client = createClient({
    ...{ baseUrl: `http://127.0.0.1:${port}`, chainId: 1 },
    ...{ projectId: 'demo', serverKey: 'demo-server-key' }
  })
  const records = await client.getTransactionsByAddress({ address: alice, limit: 100 })
  expect(accepted).toEqual([expect.stringContaining('gzip')])
  const { result } = JSON.parse((await ask(page())).text) as { readonly result: unknown[] }
  expect(records).toHaveLength(result.length)
  server.close()
})
