import { namehash as namehashOfEthers } from 'ethers'
import { describe, expect, it } from 'vitest'
import { isPlainName, namehash } from './ensName.ts'

describe('a node', () => {
  it.each(['eth', 'alice.eth', 'a.b-c.alice.eth', `${'ab'.repeat(20)}.addr.reverse`])('of %s', name => {
    expect(namehash(name)).toBe(namehashOfEthers(name))
  })
})

describe('a plain name', () => {
  it.each(['alice.eth', 'a.b.eth', '0xab.eth', '-a-.eth', 'a--b.eth', 'example.com'])('is %s', name => {
    expect(isPlainName(name)).toBe(true)
  })

  it.each([
    ...['', 'eth', '.eth', 'alice.', 'a..eth', 'Alice.eth', 'alice.eth ', 'alice.eth\n', 'al ice.eth'],
    ...['xn--80ak6aa92e.eth', 'alice.xn--p1ai', 'аlice.eth', 'alice\u200b.eth', 'al_ice.eth', '😀.eth'],
    `${'a'.repeat(252)}.eth`
  ])('is not %j', name => {
    expect(isPlainName(name)).toBe(false)
  })

  it('has at most 255 characters', () => {
    expect(isPlainName(`${'a'.repeat(251)}.eth`)).toBe(true)
  })
})
