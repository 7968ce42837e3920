import * as crypto from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ProjectInput } from '../config/projectsSchema.ts'
import { createKeyRing } from './createKeyRing.ts'
import { digestKey, formatKeyDigest } from './keyDigest.ts'

vi.mock('node:crypto', async load => {
  const real = await load<typeof crypto>()
  return { ...real, timingSafeEqual: vi.fn(real.timingSafeEqual) }
})
afterEach(() => vi.mocked(crypto.timingSafeEqual).mockClear())

const origins = ['https://dapp.example']
const endMs = Date.parse('2026-12-31T00:00:00Z')
let nowMs = endMs - 1
const projects: readonly ProjectInput[] = [
  {
    projectId: 'many',
    serverKey: 'first',
    serverKeys: [
      'second',
      { key: formatKeyDigest(digestKey('third')), expiresAt: '2026-12-31T01:00:00+01:00' },
      // Two lives of one key: the longer one counts, wherever it stands.
      'twice',
      { key: 'twice', expiresAt: '2026-12-31T00:00:00Z' }
    ],
    clientKeys: [{ key: 'page', origins, expiresAt: null }],
    rateLimit: false
  },
  { projectId: 'pages only', serverKey: null, clientKeys: [{ key: 'page', origins }] },
  { projectId: 'one', serverKey: 'first' }
]
const open = () => createKeyRing(projects, () => nowMs)
const keys = open()
const server = { projectId: 'many', kind: 'server', rateLimit: false }

describe('a ring of keys', () => {
  it.each<[string, string, object | undefined]>([
    ['many', 'first', server],
    ['many', 'second', server],
    ['many', 'third', server],
    ['many', 'twice', server],
    ['many', 'page', { ...server, kind: 'client', origins }],
    ['pages only', 'page', { projectId: 'pages only', kind: 'client', origins }],
    ['pages only', 'first', undefined],
    ['one', 'second', undefined],
    ['nobody', 'first', undefined],
    ['', '', undefined]
  ])('finds the caller of project %j with key %j', (projectId, key, caller) => {
    nowMs = endMs - 1
    expect(keys.find(projectId, key)).toEqual(caller)
  })

  it('takes a key for a wrong one from the moment of its end', () => {
    nowMs = endMs - 1
    expect(keys.find('many', 'third')).toEqual(server)
    nowMs = endMs
    expect(keys.find('many', 'third')).toBeUndefined()
    expect(keys.find('many', 'twice')).toEqual(server)
  })

  it.each(['many', 'one', 'pages only', 'nobody'])(
    'compares as often for %s as for the project with the most keys, right or wrong',
    projectId => {
      nowMs = endMs - 1
      for (const key of ['first', 'page', 'wrong']) {
        const fresh = open()
        vi.mocked(crypto.timingSafeEqual).mockClear()
        fresh.find(projectId, key)
        expect(crypto.timingSafeEqual).toHaveBeenCalledTimes(6)
      }
    }
  )

  it('knows a right key again without comparing, until its end, and a wrong one never', () => {
    nowMs = endMs - 1
    const fresh = open()
    const compared = (projectId: string, key: string) => {
      vi.mocked(crypto.timingSafeEqual).mockClear()
      const caller = fresh.find(projectId, key)
      return [caller !== undefined, vi.mocked(crypto.timingSafeEqual).mock.calls.length]
    }
    expect([compared('many', 'third'), compared('many', 'third')]).toEqual([
      [true, 6],
      [true, 0]
    ])
    // The same characters, divided elsewhere.
    expect(compared('manyt', 'hird')).toEqual([false, 6])
    expect([compared('many', 'wrong'), compared('many', 'wrong')]).toEqual([
      [false, 6],
      [false, 6]
    ])
    nowMs = endMs
    expect(compared('many', 'third')).toEqual([false, 6])
  })

  it('knows its projects, how many keys they have and whether pages may use one', () => {
    expect([keys.has('many'), keys.has('nobody'), keys.hasClientKeys()]).toEqual([true, false, true])
    expect(keys.counts()).toEqual({ projects: 3, keys: 8 })
    expect(createKeyRing([]).hasClientKeys()).toBe(false)
  })
})
