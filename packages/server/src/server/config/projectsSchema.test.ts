import { describe, expect, it } from 'vitest'
import { loadProjects, parseConfig, parseProjects } from './config.ts'

const chains = { solana: [{ chainId: 103, rpcUrls: ['http://127.0.0.1:8899'] }] }
const origins = ['https://dapp.example']

function refusalOf(parse: () => unknown): string {
  try {
    parse()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('it was accepted')
}

describe('the projects of a configuration', () => {
  it.each<[string, object]>([
    ['one server key', { serverKey: 'k' }],
    ['several server keys', { serverKeys: ['k', { key: 'l' }] }],
    [
      'a key with its life',
      { serverKeys: [{ key: 'k', name: 'backend', expiresAt: '2026-12-31T00:00:00Z' }] }
    ],
    ['a time of another zone', { serverKeys: [{ key: 'k', createdAt: '2026-12-31T00:00:00+02:00' }] }],
    ['client keys only', { clientKeys: [{ key: 'k', origins, name: 'shop' }] }],
    ['a quota of their own', { serverKey: 'k', rateLimit: { requestsPerSecond: 1, burst: 5 } }],
    ['no quota', { serverKey: 'k', rateLimit: false }],
    ['an id that is no ASCII', { serverKey: 'schlüssel', projectId: 'grüße' }]
  ])('may have %s', (_what, project) => {
    expect(parseProjects([{ projectId: 'demo', ...project }])).toMatchObject([project])
  })

  it.each<[string, unknown, RegExp]>([
    ['no key', {}, /^projects\[0\]\.serverKey is missing; expected password .*serverKeys or clientKeys$/],
    [
      'a key that is a number',
      { serverKeys: [1] },
      /^projects\[0\]\.serverKeys\[0\] is a number that is not shown/
    ],
    [
      'an end that is no time',
      { serverKeys: [{ key: 'k', expiresAt: 'soon' }] },
      /^projects\[0\]\.serverKeys\[0\].* expected a key: .*"2026/
    ],
    [
      'an end without a zone',
      { clientKeys: [{ key: 'k', origins, expiresAt: '2026-12-31T00:00:00' }] },
      /clientKeys\[0\]\.expiresAt is .* expected when the key ends/
    ],
    [
      'an unknown member of a key',
      { clientKeys: [{ key: 'k', origins, x: 1 }] },
      /^projects\[0\]\.clientKeys\[0\]\.x is not a key .*: key, origins, name/
    ],
    ['a key with a NUL', { serverKey: 'k\0' }, /^projects\[0\]\.serverKey is a string that is not shown/],
    [
      'a client key for nowhere',
      { clientKeys: [{ key: 'k', origins: [] }] },
      /origins is \[\]; expected .*at least one/
    ],
    [
      'an origin that is any',
      { clientKeys: [{ key: 'k', origins: ['*'] }] },
      /origins\[0\] is "\*"; expected an origin such as/
    ],
    [
      'an origin with a slash',
      { clientKeys: [{ key: 'k', origins: ['https://a.example/'] }] },
      /expected an origin such as/
    ],
    [
      'a quota that is true',
      { serverKey: 'k', rateLimit: true },
      /^projects\[0\]\.rateLimit is .*; expected own quota/
    ]
  ])('are refused with the key and what was expected: %s', (_what, project, message) => {
    expect(refusalOf(() => parseProjects([{ projectId: 'demo', ...(project as object) }]))).toMatch(message)
  })

  it('may each be there once', () => {
    const twice = [1, 2].map(() => ({ projectId: 'demo', serverKey: 'k' }))
    expect(refusalOf(() => parseProjects(twice))).toMatch(
      /^projects\[1\]\.projectId is "demo"; expected .*used once/
    )
  })

  it('may be none where a file or the host knows them', () => {
    expect(parseConfig({ chains, projectsFile: 'projects.json' }).projects).toEqual([])
    expect(parseConfig({ chains }, { mayLackProjects: true }).projects).toEqual([])
    expect(refusalOf(() => parseConfig({ chains, projectsFile: null }))).toMatch(
      /^projects is missing; expected/
    )
  })

  it('can be read where the rest of the configuration is wrong', async () => {
    const environment = {
      CHAIN_DATA_PROJECT: 'demo:k',
      CHAIN_DATA_PROJECTS_FILE: 'p.json',
      CHAIN_DATA_PORT: 'x'
    }
    const { projects, projectsFile } = await loadProjects(undefined, environment)
    expect([projects[0]?.projectId, projectsFile]).toEqual(['demo', 'p.json'])
  })
})
