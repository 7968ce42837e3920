import { keccak256 } from 'ethers'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Hex } from '../../../model/evm.ts'
import { keccakHead, keccakHeadOf } from './keccakHead.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? Date.now() % 2 ** 31)

it(`the head of a hash is the one the library computes, at every length (seed ${seed}, CHAIN_DATA_TEST_SEED repeats it)`, () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 135 }),
    ...[0, 20, 32, 134, 135].map(length => fc.uint8Array({ minLength: length, maxLength: length }))
  )
  fc.assert(
    fc.property(bytes, value => {
      const hex: Hex = `0x${Buffer.from(value).toString('hex')}`
      const hash = keccak256(hex)
      const wanted = [2, 6, 10].map(start => Number.parseInt(hash.slice(start, start + 4), 16))
      expect(keccakHead(hex)).toEqual(wanted)
    }),
    { seed, numRuns: 300 }
  )
})

it(`the head of a hash is the same from words (seed ${seed})`, () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { maxLength: 33 }), values => {
      const bytes = Buffer.alloc(4 * values.length)
      for (const [i, value] of values.entries()) bytes.writeInt32LE(value, 4 * i)
      expect(keccakHeadOf(Int32Array.from(values), bytes.length)).toEqual(
        keccakHead(`0x${bytes.toString('hex')}`)
      )
    }),
    { seed, numRuns: 200 }
  )
})
