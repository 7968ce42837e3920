import { gzipSync } from 'node:zlib'
import { describe, expect, it, vi } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { exactJson } from '../../src/platform/exactJson.ts'
import {
  type Answer,
  after,
  bomb,
  drip,
  endless,
  inTurn,
  json,
  raw,
  redirect,
  reset,
  silent,
  status
} from './startRogueHost.ts'
import { useMetadataService } from './useMetadataService.ts'

const { startHosts, over } = useMetadataService()
const text = '{"name":"honest","n":1}'
const nested = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
const long = (length: number, body: string) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`

async function startOne() {
  const [host] = await startHosts(1)
  if (host === undefined) throw new Error('no host')
  return host
}

/** What the service makes of one answer: the JSON text it passes on, and the outcome it counts. */
async function outcomeOf(answer: Answer) {
  const host = await startOne()
  const service = over([host])
  const found = await service.read(host.serve('/1.json', answer))
  const [outcome, ...others] = Object.keys(service.figures().fetches)
  expect(others).toEqual([])
  await vi.waitFor(() => expect(host.connections.now).toBe(0), { timeout: patient(10_000) })
  return { data: found && exactJson(found.data), outcome }
}

describe('an answer that can be used', () => {
  it.each<[string, Answer, string]>([
    ['plain', json(text), text],
    ['slow, within its time', after(300, json(text)), text],
    ['gzipped', json(gzipSync(text), { 'content-encoding': 'gzip' }), text],
    ['of a Content-Type that says otherwise', json(text, { 'content-type': 'image/png' }), text],
    ['without a Content-Type', raw(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`), text],
    ['shorter in its Content-Length than sent, up to there', raw(long(text.length, `${text}garbage`)), text],
    ['with a byte order mark', json(`\ufeff${text}`), text],
    ['with a key __proto__', json('{"__proto__":{"a":1},"b":2}'), '{"__proto__":{"a":1},"b":2}'],
    ['with equal keys, the last of which counts', json('{"a":1,"a":2}'), '{"a":2}'],
    ['with integers beyond 2^53', json('{"n":18446744073709551615}'), '{"n":18446744073709551615}'],
    ['with bytes that are no UTF-8', json(Buffer.from('7b2261223a22ff227d', 'hex')), '{"a":"\ufffd"}'],
    ['nested 64 deep', json(nested(64)), nested(64)]
  ])('%s is passed on', async (_what, answer, expected) => {
    expect(await outcomeOf(answer)).toEqual({ data: expected, outcome: 'ok' })
  })

  it('behind a redirect is passed on', async () => {
    const host = await startOne()
    host.serve('/there', json(text))
    const uri = host.serve('/here', redirect('/there', 307))
    expect((await over([host]).read(uri))?.data).toEqual({ name: 'honest', n: 1 })
  })
})

describe('an answer that cannot be used', () => {
  it.each<[string, Answer, string]>([
    ['never comes', silent, 'timeout'],
    ['has no end', endless, 'too_large'],
    ['comes drop by drop', drip, 'timeout'],
    ['unpacks to too much from gzip', bomb('gzip'), 'too_large'],
    ['is packed with brotli, which is not asked for', bomb('br'), 'encoding'],
    ['says gzip and is none', json(text, { 'content-encoding': 'gzip' }), 'encoding'],
    ['says an encoding nobody asked for', json(text, { 'content-encoding': 'zstd' }), 'encoding'],
    ['announces too much', raw(long(2_000_000_000, text)), 'too_large'],
    ['announces more than it sends', raw(long(text.length + 10, text)), 'protocol'],
    ['announces less, and what is sent up to there is no JSON', raw(long(5, text)), 'content'],
    ['is too large as it arrives', json(`{"a":"${'x'.repeat(1024 * 1024)}"}`), 'too_large'],
    ['is wrong JSON', json("{'a':1}"), 'content'],
    [
      'is an HTML page with status 200',
      json('<!doctype html><html></html>', { 'content-type': 'text/html' }),
      'content'
    ],
    ['is an array', json('[{}]'), 'content'],
    ['is null', json('null'), 'content'],
    ['is empty', json(''), 'content'],
    ['holds NaN', json('{"a":NaN}'), 'content'],
    ['is nested 65 deep', json(nested(65)), 'content'],
    ['is nested a hundred thousand deep', json('['.repeat(100_000)), 'content'],
    ['holds an integer of a million digits', json(`{"a":${'9'.repeat(1_000_000)}}`), 'content'],
    ['redirects to itself', redirect('/1.json'), 'redirect'],
    ['redirects to a private address', redirect('http://10.0.0.1/'), 'private_address'],
    ['redirects to another port of the machine', redirect('http://127.0.0.1:1/'), 'port'],
    ['redirects nowhere', status(302), 'redirect'],
    ['is no HTTP', raw('SSH-2.0-OpenSSH_9.6\r\n'), 'protocol'],
    ['is a reset', reset, 'protocol'],
    ['is a 404', status(404), 'status'],
    ['is a 500', status(500), 'status'],
    ['is a 206', status(206), 'status']
  ])('because it %s counts as unavailable', async (_what, answer, outcome) => {
    expect(await outcomeOf(answer)).toEqual({ data: undefined, outcome })
  })

  it('leaves nothing behind in objects', () => {
    expect('a' in {}).toBe(false)
  })
})

describe('an answer that changes', () => {
  it('from 404 to 200 is found a minute later, not before', async () => {
    const host = await startOne()
    let time = 0
    const service = over([host], { now: () => time })
    const uri = host.serve('/1.json', inTurn(status(404), json(text)))
    expect(await service.read(uri)).toBeUndefined()
    time = 59_999
    expect(await service.read(uri)).toBeUndefined()
    expect(host.requests('/1.json')).toBe(1)
    time = 60_000
    expect((await service.read(uri))?.data).toEqual({ name: 'honest', n: 1 })
    expect(service.figures().lookups).toEqual({ fresh: 0, stale: 0, negative: 1, missing: 2 })
  })

  it.each([429, 503])(
    'from %i to 200 is found after the pause that was asked for, until then other documents of the host are',
    async busy => {
      const host = await startOne()
      let time = 0
      const service = over([host], { now: () => time })
      const throttled = host.serve('/1.json', inTurn(status(busy, { 'retry-after': '90' }), json(text)))
      const other = host.serve('/2.json', json(text))
      expect(await service.read(throttled)).toBeUndefined()
      time = 89_999
      expect(await service.readAll([{ uri: throttled }, { uri: other }])).toEqual([
        undefined,
        expect.objectContaining({ data: { name: 'honest', n: 1 } })
      ])
      expect([host.requests('/1.json'), host.requests('/2.json')]).toEqual([1, 1])
      time = 90_000
      const found = await service.readAll([{ uri: throttled }, { uri: other }])
      expect(found.map(item => item?.data.name)).toEqual(['honest', 'honest'])
    }
  )
})
