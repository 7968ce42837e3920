import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryConfirmed, arbitraryPendingRecord, arbitraryUint256 } from '../../test/arbitraries.ts'
import { encodeConfirmed } from '../../test/encodeConfirmed.ts'
import type { ConfirmedTransaction, Hex } from '../model/evm.ts'
import { StoreError } from '../platform/errors.ts'
import { decodeDetailed } from './details.ts'
import { decodePending, encodePending, hashOfRecord } from './record.ts'
import { ByteReader, ByteWriter, integerAt } from './recordBytes.ts'
import { toTransactionId } from './transactionId.ts'

const transfer: ConfirmedTransaction = {
  hash: `0x${'ab'.repeat(32)}`,
  from: `0x${'11'.repeat(20)}`,
  to: `0x${'22'.repeat(20)}`,
  value: 0n,
  // transfer(address,uint256)
  data: `0xa9059cbb${'0'.repeat(24)}${'33'.repeat(20)}${'0'.repeat(48)}0de0b6b3a7640000`,
  gasLimit: 60_000n,
  nonce: 7n,
  type: 2,
  accessList: [],
  maxFeePerGas: 30_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
  blockNumber: 20_000_000,
  index: 3,
  timestampSeconds: 1_700_000_000,
  status: 3,
  gasPrice: 12_345_678_901n,
  gasSpent: 51_234n,
  feeWei: 12_345_678_901n * 51_234n
}

function decodeConfirmed(bytes: Uint8Array, place: ConfirmedTransaction) {
  return decodeDetailed({ ids: [toTransactionId(place)], bytes })[0]?.transaction
}

/** All the bytes of a record and what its owner would make of them. */
const forms = {
  confirmed: {
    bytes: encodeConfirmed(transfer),
    decode: (bytes: Uint8Array) => decodeConfirmed(bytes, transfer)
  },
  pending: {
    bytes: encodePending({ ...transfer, gasPrice: 5n }),
    decode: (bytes: Uint8Array) => decodePending(bytes)
  }
}

test('a confirmed transaction comes back exactly, absent fields absent', () => {
  fc.assert(
    fc.property(arbitraryConfirmed, transaction => {
      const bytes = encodeConfirmed(transaction)
      expect(decodeConfirmed(bytes, transaction)).toStrictEqual(transaction)
      expect(hashOfRecord(bytes.subarray(0, 33))).toBe(transaction.hash)
    }),
    { numRuns: 1000 }
  )
})

test('a pending transaction comes back exactly, absent fields absent', () => {
  fc.assert(
    fc.property(arbitraryPendingRecord, transaction => {
      const bytes = encodePending(transaction)
      expect(decodePending(bytes)).toStrictEqual(transaction)
      expect(hashOfRecord(bytes)).toBe(transaction.hash)
    }),
    { numRuns: 1000 }
  )
})

test('every amount up to 2^256-1 and every length up to 2^53-1 is exact', () => {
  fc.assert(
    fc.property(arbitraryUint256, fc.maxSafeNat(), (amount, length) => {
      const writer = new ByteWriter(1)
      writer.integer(amount)
      writer.varint(length)
      const bytes = writer.finish()
      const reader = new ByteReader(bytes)
      expect(integerAt(bytes, reader.integer())).toBe(amount)
      expect(reader.varint()).toBe(length)
      reader.finish()
    }),
    { numRuns: 2000 }
  )
})

test('a token transfer takes less than a quarter more than what cannot be left out', () => {
  // Hash, sender, receiver, recipient and the amounts' own digits.
  const irreducible = 32 + 3 * 20 + 4 + 8 + 5 * 3 + 4
  expect(encodeConfirmed(transfer).length).toBeLessThan(irreducible * 1.25)
})

test('zeros of calldata cost next to nothing and random bytes no more than themselves', () => {
  const size = (data: Hex) =>
    encodeConfirmed({ ...transfer, data }).length - encodeConfirmed({ ...transfer, data: '0x' }).length
  expect(size(`0x${'00'.repeat(100_000)}`)).toBeLessThan(10)
  expect(size(`0x${'01'.repeat(1000)}`)).toBeLessThan(1000 + 6)
  expect(size(`0x${'00000001'.repeat(250)}`)).toBeLessThan(1000 + 6)
})

describe.each(Object.entries(forms))('damaged bytes of a %s record', (_, { bytes, decode }) => {
  test('cut anywhere are refused', () => {
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decode(bytes.subarray(0, length)), `${length} bytes`).toThrow(StoreError)
    }
  })

  test('followed by more are refused', () => {
    expect(() => decode(Buffer.concat([bytes, Buffer.of(0)]))).toThrow(StoreError)
  })

  test('of an unknown kind are refused', () => {
    for (const kind of [0, 6, 0x40, 0x42, 0xff]) {
      const other = Buffer.from(bytes)
      other[0] = kind
      expect(() => decode(other)).toThrow(StoreError)
      expect(() => hashOfRecord(other)).toThrow(StoreError)
    }
  })

  test('changed at random decode to something or are a StoreError, never another failure', () => {
    let refused = 0
    fc.assert(
      fc.property(fc.nat({ max: bytes.length - 1 }), fc.nat({ max: 255 }), (at, value) => {
        const changed = Buffer.from(bytes)
        changed[at] = value
        try {
          decode(changed)
        } catch (error) {
          expect(error).toBeInstanceOf(StoreError)
          refused++
        }
      }),
      { numRuns: 3000 }
    )
    expect(refused).toBeGreaterThan(0)
  })

  test('that are pure noise are a StoreError, quickly, whatever length they claim', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), noise => {
        const kept = Buffer.concat([bytes.subarray(0, 40), noise])
        try {
          decode(kept)
        } catch (error) {
          expect(error).toBeInstanceOf(StoreError)
        }
      }),
      { numRuns: 500 }
    )
  })
})

test('each kind refuses the other', () => {
  expect(() => decodePending(forms.confirmed.bytes)).toThrow(StoreError)
  expect(() => decodeConfirmed(forms.pending.bytes, transfer)).toThrow(StoreError)
})

test.each<[string, Partial<ConfirmedTransaction>]>([
  ['a negative amount', { value: -1n }],
  ['an amount wider than the format', { gasPrice: 2n ** 512n }],
  ['a negative type', { type: -1 }],
  ['a broken timestamp', { timestampSeconds: 1.5 }],
  ['half a byte of data', { data: '0x123' }],
  ['data that are not hex', { data: '0xzz' }],
  ['a short hash', { hash: '0x1234' }],
  ['a long address', { to: `0x${'22'.repeat(21)}` }],
  ['an address that is not hex', { from: `0x${'gg'.repeat(20)}` }]
])('%s is refused instead of stored changed', (_, change) => {
  expect(() => encodeConfirmed({ ...transfer, ...change })).toThrow(StoreError)
})
