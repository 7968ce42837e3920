import { describe, expect, it } from 'vitest'
import { createKey, digestKey, formatKeyDigest, keyIdOf, matchesKey, readConfiguredKey } from './keyDigest.ts'

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

  it('has a public id, the same for one digest and another for the next', () => {
    const digest = formatKeyDigest(digestKey('the key'))
    expect(keyIdOf(digest)).toMatch(/^[0-9a-f]{8}$/)
    expect(keyIdOf(digest)).toBe(keyIdOf(digest))
    expect(keyIdOf(digest)).not.toBe(keyIdOf(formatKeyDigest(digestKey('the key'))))
  })

  it('has no id in plain text, which a hash would give away', () => {
    expect(keyIdOf('the key')).toBeUndefined()
  })

  it.each([
    ['itself', 'kéy', true],
    ['a NUL more', 'kéy\0', false],
    ['the same letters in other bytes (NFD)', 'kéy'.normalize('NFD'), false],
    ['nothing', '', false]
  ])('is matched by %s: %j is %s', (_what, sent, matches) => {
    for (const configured of ['kéy', formatKeyDigest(digestKey('kéy'))]) {
      expect(matchesKey(readConfiguredKey(configured), sent)).toBe(matches)
    }
  })
})
