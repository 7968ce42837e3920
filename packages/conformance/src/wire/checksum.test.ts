import { getAddress, id } from 'ethers'
import { expect, it } from 'vitest'
import { checksum } from './checksum.ts'
import { keccak256 } from './keccak256.ts'

it('hashes texts of every length around a block as another library does', () => {
  for (const length of [0, 1, 7, 8, 9, 134, 135, 136, 137, 271, 272, 300]) {
    const text = 'abcdefghij'.repeat(40).slice(0, length)
    expect(`0x${Buffer.from(keccak256(text)).toString('hex')}`, `${length}`).toBe(id(text))
  }
})

it('writes addresses as another library does, whatever their case was', () => {
  for (let seed = 0; seed < 50; seed++) {
    const address = id(`${seed}`).slice(0, 42)
    expect(checksum(address)).toBe(getAddress(address))
    expect(checksum(`0x${address.slice(2).toUpperCase()}`)).toBe(getAddress(address))
  }
})
