import { describe, expect, it } from 'vitest'
import { addKey, revokeKey, rotateKey } from './editProjects.ts'
import type { KeptKey, KeptProject } from './projectsFile.ts'

const nowMs = Date.parse('2026-11-21T12:00:00Z')
const at = (hours: number) => new Date(nowMs + hours * 3_600_000).toISOString()
const key = (id: string, change: Partial<KeptKey> = {}): KeptKey => ({
  kind: 'server',
  id,
  key: `d-${id}`,
  ...change
})
const project = (...keys: KeptKey[]): readonly KeptProject[] => [{ projectId: 'demo', keys }]
const made = { id: 'new', key: 'd-new' }
const origins = ['https://dapp.example']

function rotate(projects: readonly KeptProject[], selector?: string, graceMs = 3_600_000) {
  const { projects: after } = rotateKey(projects, { projectId: 'demo', selector, made, nowMs, graceMs })
  return after[0]?.keys.map(({ id, expiresAt }) => [id, expiresAt])
}

describe('a key that is added', () => {
  it('makes its project, in the order of their ids', () => {
    const others = addKey(project(key('a')), { projectId: 'Zoo', key: key('b'), nowMs })
    expect(others.map(({ projectId }) => projectId)).toEqual(['Zoo', 'demo'])
  })

  it('takes the place of those past their end, and leaves the quota as it is', () => {
    const before = project(key('old', { expiresAt: at(0) }), key('a', { expiresAt: at(1) }))
    const [after] = addKey([{ ...before[0]!, rateLimit: false }], { projectId: 'demo', key: key('b'), nowMs })
    expect(after).toMatchObject({ rateLimit: false, keys: [{ id: 'a' }, { id: 'b' }] })
  })

  it('needs a name that no other has, and room', () => {
    const named = project(key('a', { name: 'backend' }))
    const again = () => addKey(named, { projectId: 'demo', key: key('b', { name: 'backend' }), nowMs })
    expect(again).toThrow('has a key named "backend"; expected another name')
    const full = project(...Array.from({ length: 100 }, (_, index) => key(String(index))))
    expect(() => addKey(full, { projectId: 'demo', key: key('b'), nowMs })).toThrow('has 100 server keys')
    expect(() => addKey(full, { projectId: 'demo', key: key('b', { kind: 'client' }), nowMs })).not.toThrow()
  })
})

describe('a rotation', () => {
  it.each<[string, readonly KeptProject[], string | undefined, unknown]>([
    [
      'the only key',
      project(key('a')),
      undefined,
      [
        ['a', at(1)],
        ['new', undefined]
      ]
    ],
    [
      'the only server key',
      project(key('a'), key('p', { kind: 'client', origins })),
      undefined,
      [
        ['a', at(1)],
        ['p', undefined],
        ['new', undefined]
      ]
    ],
    [
      'the newest of a chain',
      project(key('a', { expiresAt: at(2) }), key('b')),
      undefined,
      [
        ['a', at(2)],
        ['b', at(1)],
        ['new', undefined]
      ]
    ],
    [
      'a key by its id',
      project(key('a'), key('b')),
      'b',
      [
        ['a', undefined],
        ['b', at(1)],
        ['new', undefined]
      ]
    ],
    [
      'a key by its name',
      project(key('a', { name: 'n' }), key('b')),
      'n',
      [
        ['a', at(1)],
        ['b', undefined],
        ['new', undefined]
      ]
    ],
    [
      'the lasting one of a name',
      project(key('a', { name: 'n', expiresAt: at(2) }), key('b', { name: 'n' })),
      'n',
      [
        ['a', at(2)],
        ['b', at(1)],
        ['new', undefined]
      ]
    ],
    [
      'a key that ends sooner than the grace',
      project(key('a', { expiresAt: at(0.5) })),
      'a',
      [
        ['a', at(0.5)],
        ['new', undefined]
      ]
    ],
    [
      'and leaves out what is past its end',
      project(key('z', { expiresAt: at(-1) }), key('a')),
      'a',
      [
        ['a', at(1)],
        ['new', undefined]
      ]
    ]
  ])('replaces %s', (_what, projects, selector, after) => {
    expect(rotate(projects, selector)).toEqual(after)
  })

  it('without grace ends the old key at once', () => {
    expect(rotate(project(key('a')), undefined, 0)).toEqual([['new', undefined]])
  })

  it('hands on kind, name and origins, and not the end', () => {
    const old = key('a', { kind: 'client', origins, name: 'shop', createdAt: at(-9), expiresAt: at(5) })
    const rotated = rotateKey(project(old), { projectId: 'demo', selector: 'a', made, nowMs, graceMs: 0 })
    expect(rotated.made).toEqual({ ...made, kind: 'client', origins, name: 'shop', createdAt: at(0) })
  })

  it.each<[string, readonly KeptProject[], string | undefined, string]>([
    ['an unknown project', [], undefined, 'Project "demo" is not in the projects file; expected one that'],
    [
      'an unknown key',
      project(key('a', { name: 'n' })),
      'x',
      'has no key "x"; expected the id of one of them: a (server, n)'
    ],
    [
      'one of two keys',
      project(key('a'), key('b')),
      undefined,
      'expected --key with one of: a (server), b (server)'
    ],
    [
      'one of two of a name',
      project(key('a', { name: 'n' }), key('b', { name: 'n' })),
      'n',
      'has several keys "n"; expected the id'
    ]
  ])('does not guess: %s', (_what, projects, selector, message) => {
    expect(() => rotate(projects, selector)).toThrow(message)
  })
})

describe('a revocation', () => {
  const two = project(key('a', { name: 'n', expiresAt: at(1) }), key('b', { name: 'n' }))

  it('takes one key and tells how many usable ones are left', () => {
    const [one, ended] = [key('a'), key('z', { expiresAt: at(-1) })]
    expect(revokeKey(two, { projectId: 'demo', selector: 'a', nowMs })).toMatchObject({
      left: 1,
      revoked: [{ id: 'a' }]
    })
    expect(revokeKey(project(one, ended), { projectId: 'demo', selector: 'a', nowMs }).left).toBe(0)
  })

  it('without a key takes the project', () => {
    expect(revokeKey(two, { projectId: 'demo', selector: undefined, nowMs })).toMatchObject({
      projects: [],
      left: 0
    })
  })

  it('does not guess which key of a name is meant', () => {
    expect(() => revokeKey(two, { projectId: 'demo', selector: 'n', nowMs })).toThrow('several keys "n"')
  })
})
