import { arbitraryAddress } from '@chain-data/index/test'
import { getAddress } from 'ethers'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createAddressFormat, createAddressWriter } from './addressFormat.ts'

const seed = Number(process.env.CHAIN_DATA_SEED ?? 1)

it('takes no address for one that differs in a single byte, wherever that is', () => {
  const write = createAddressWriter(1)
  for (let place = 0; place < 20; place++) {
    for (const byte of [0, 1, 0xab]) {
      const bytes = Buffer.alloc(20)
      bytes[place] = byte
      const out = Buffer.alloc(40)
      write(bytes, 0, out, 0)
      expect(`0x${out}`).toBe(getAddress(`0x${bytes.toString('hex')}`))
      write(Buffer.alloc(20), 0, out, 0)
      expect(out.toString()).toBe('0'.repeat(40))
    }
  }
})

it(`writes the checksummed form, however few addresses it remembers (CHAIN_DATA_SEED=${seed})`, () => {
  const format = createAddressFormat()
  const writers = [createAddressWriter(1), createAddressWriter(2), createAddressWriter()]
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constant(`0x${'00'.repeat(20)}` as const), arbitraryAddress), { maxLength: 6 }),
      addresses => {
        for (const address of [...addresses, ...addresses.toReversed()]) {
          expect(format(address)).toBe(getAddress(address))
          for (const write of writers) {
            const out = Buffer.alloc(44, 'x')
            write(Buffer.from(`ff${address.slice(2)}`, 'hex'), 1, out, 2)
            expect(out.toString()).toBe(`xx${getAddress(address).slice(2)}xx`)
          }
        }
      }
    ),
    { seed, numRuns: 300 }
  )
})
