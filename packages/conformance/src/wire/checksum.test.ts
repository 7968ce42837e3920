import { getAddress, id } from 'ethers'
import { expect, it } from 'vitest'
import { checksum } from './checksum.ts'

it('writes addresses as another library does, whatever their case was', () => {
  for (let seed = 0; seed < 50; seed++) {
    const address = id(`${seed}`).slice(0, 42)
    expect(checksum(address)).toBe(getAddress(address))
    expect(checksum(`0x${address.slice(2).toUpperCase()}`)).toBe(getAddress(address))
  }
})
