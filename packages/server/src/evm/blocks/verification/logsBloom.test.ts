import { getBytes, keccak256 } from 'ethers'
import { describe, expect, it } from 'vitest'
import { NodeContradictionError } from '../../../platform/errors.ts'
import { addToBloom, createBloom, isEmptyBloom, mergeBloom, readBloom, sameBloom } from './logsBloom.ts'

const hex = (bloom: Uint8Array) => `0x${Buffer.from(bloom).toString('hex')}`
const bitsOf = (bloom: Uint8Array) => {
  const number = BigInt(hex(bloom))
  return Array.from({ length: 2048 }, (_, i) => i).filter(i => (number >> BigInt(i)) & 1n)
}

describe('the bloom of logs', () => {
  it('has for each value the bits that the first three pairs of bytes of its hash name', () => {
    // The address of a well-known development account, and the topic of every token transfer.
    const values = [
      '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
    ] as const
    const bloom = createBloom()
    const wanted = new Set<number>()
    for (const value of values) {
      addToBloom(bloom, value)
      addToBloom(bloom, value)
      const hash = getBytes(keccak256(value))
      for (const i of [0, 2, 4]) wanted.add(((hash[i] ?? 0) * 256 + (hash[i + 1] ?? 0)) % 2048)
    }
    expect(bitsOf(bloom)).toEqual([...wanted].sort((a, b) => a - b))
  })

  it('of two parts is both together', () => {
    const [a, b, both] = [createBloom(), createBloom(), createBloom()]
    addToBloom(a, '0x01')
    addToBloom(b, '0x02')
    for (const value of ['0x01', '0x02'] as const) addToBloom(both, value)
    expect(sameBloom(a, both)).toBe(false)
    mergeBloom(a, b)
    expect(sameBloom(a, both)).toBe(true)
    expect([isEmptyBloom(a), isEmptyBloom(createBloom())]).toEqual([false, true])
  })

  it('is read in upper case and with any number of zeros, and is none where the node leaves it out', () => {
    const bloom = createBloom()
    addToBloom(bloom, '0x01')
    expect(readBloom(hex(bloom).toUpperCase(), 'it')).toEqual(Buffer.from(bloom))
    for (const zero of ['0x0', '0x00', `0x${'0'.repeat(512)}`]) {
      expect(isEmptyBloom(readBloom(zero, 'it') ?? bloom)).toBe(true)
    }
    for (const none of [undefined, null, '', '0x']) expect(readBloom(none, 'it')).toBeUndefined()
    for (const odd of [5, '0x1', 'zero']) expect(() => readBloom(odd, 'it')).toThrow(NodeContradictionError)
  })
})
