import { describe, expect, it } from 'vitest'
import { createAuthenticator } from './createAuthenticator.ts'
import { createKey, digestKey, formatKeyDigest } from './keyDigest.ts'

const origins = ['https://dapp.example']
const authenticate = createAuthenticator([
  { projectId: 'demo', serverKey: 'demo-server-key', clientKeys: [{ key: 'client', origins }] },
  { projectId: 'grüße', serverKey: 'schlüssel:with:colons', clientKeys: [] },
  { projectId: 'digested', serverKey: formatKeyDigest(digestKey('kept as digest')), clientKeys: [] }
])

function basic(text: string | Uint8Array): string {
  return `Basic ${Buffer.from(text as string).toString('base64')}`
}

describe('a caller', () => {
  it.each([
    ['the server key', basic('demo:demo-server-key'), { projectId: 'demo' }],
    ['a client key', basic('demo:client'), { projectId: 'demo', origins }],
    ['UTF-8 and colons', basic('grüße:schlüssel:with:colons'), { projectId: 'grüße' }],
    ['a key configured as digest', basic('digested:kept as digest'), { projectId: 'digested' }],
    [
      'the scheme in another case',
      basic('demo:client').replace('Basic', 'bAsIc'),
      { projectId: 'demo', origins }
    ]
  ])('is recognised by %s', (_what, header, caller) => {
    expect(authenticate(header)).toEqual(caller)
  })

  const good = basic('demo:demo-server-key')
  it.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['another scheme', good.replace('Basic', 'Bearer')],
    ['a wrong key', basic('demo:demo-server-kez')],
    ['a key cut short', basic('demo:demo-server-ke')],
    ['a key with a NUL appended', basic('demo:demo-server-key\0')],
    ['a key with a space appended', basic('demo:demo-server-key ')],
    ['a key behind a byte order mark', basic('demo:\uFEFFdemo-server-key')],
    ['an empty key', basic('demo:')],
    ['no colon', basic('demo')],
    ['an unknown project', basic('nobody:demo-server-key')],
    ['the key of another project', basic('digested:demo-server-key')],
    ['the project of nobody', basic(':demo-server-key')],
    ['a property name', basic('__proto__:x')],
    ['the digest itself', basic(`digested:${formatKeyDigest(digestKey('kept as digest'))}`)],
    ['the header sent twice', `${good}, ${good}`],
    ['text after it', `${good} x`],
    ['no padding', good.replace(/=+$/, '')],
    ['characters that are no base64', `${good.slice(0, -2)}*=`],
    ['bytes that are no UTF-8', `Basic ${Buffer.from([0x64, 0x3a, 0xff]).toString('base64')}`]
  ])('is not recognised by %s', (what, header) => {
    if (what === 'no padding') expect(header).not.toBe(good)
    expect(authenticate(header)).toBeUndefined()
  })
})

describe('a key', () => {
  it('is new every time and has 256 bits', () => {
    const keys = new Set(Array.from({ length: 50 }, createKey))
    expect(keys.size).toBe(50)
    for (const key of keys) expect(Buffer.from(key, 'base64url')).toHaveLength(32)
  })

  it('has a digest that tells nothing of it and differs each time', () => {
    const digest = formatKeyDigest(digestKey('the key'))
    expect(digest).not.toContain('the key')
    expect(digest).not.toBe(formatKeyDigest(digestKey('the key')))
  })
})
