import type { ConfirmedTransaction } from '@chain-data/index'
import { type RecordChunk, toTransactionId } from '@chain-data/index/record'
import { arbitraryConfirmed, decodeRecords, encodeConfirmed } from '@chain-data/index/test'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAddressFormat } from '../../platform/addressFormat.ts'
import { exactJson } from '../../platform/exactJson.ts'
import { createRecordWriter, toTransactionRecord } from './createRecordWriter.ts'

const seed = Number(process.env.CHAIN_DATA_SEED ?? 1)
const formatAddress = createAddressFormat()
const writeRecords = createRecordWriter(formatAddress)

function toChunk(transactions: readonly ConfirmedTransaction[]): RecordChunk {
  return {
    ids: transactions.map(toTransactionId),
    bytes: Buffer.concat(transactions.map(each => encodeConfirmed(each)))
  }
}

/** The slow and obvious way. */
function expectedText(transactions: readonly ConfirmedTransaction[]): string {
  return exactJson(transactions.map(transaction => toTransactionRecord(transaction, formatAddress))).slice(
    1,
    -1
  )
}

const plain: ConfirmedTransaction = {
  hash: `0x${'0f'.repeat(32)}`,
  from: `0x${'00'.repeat(20)}`,
  value: 0n,
  data: '0x',
  gasLimit: 0n,
  nonce: 0n,
  type: 0,
  blockNumber: 0,
  index: 0,
  timestampSeconds: 0,
  status: 3,
  gasPrice: 0n,
  gasSpent: 0n,
  feeWei: 0n
}

describe(`records written straight from their bytes (CHAIN_DATA_SEED=${seed})`, () => {
  it('are the text that the way over values gives, whatever is in them', () => {
    fc.assert(
      fc.property(fc.array(arbitraryConfirmed, { minLength: 1, maxLength: 8 }), transactions => {
        const chunk = toChunk(transactions)
        expect(String(writeRecords(chunk))).toBe(expectedText(transactions))
        expect(decodeRecords(chunk)).toEqual(transactions)
      }),
      { seed, numRuns: 1_000 }
    )
  })

  const two64 = 2n ** 64n
  it.each<[string, Partial<ConfirmedTransaction>]>([
    ['zeros everywhere', {}],
    ['one digit', { value: 1n, gasPrice: 15n, gasSpent: 1n, feeWei: 15n }],
    ['the edges of bytes', { value: 255n, gasPrice: 256n, gasSpent: 65_535n, feeWei: 256n * 65_535n }],
    ['numbers beyond 2^53', { nonce: two64 - 1n, gasLimit: 2n ** 53n + 1n }],
    ['numbers around six bytes', { nonce: 2n ** 48n - 1n, gasLimit: 2n ** 48n }],
    [
      'a product of large factors',
      { gasPrice: 2n ** 256n - 1n, gasSpent: two64 - 1n, feeWei: (2n ** 256n - 1n) * (two64 - 1n) }
    ],
    [
      'a product with the shorter factor first',
      { gasPrice: 7n, gasSpent: two64 - 1n, feeWei: 7n * (two64 - 1n) }
    ],
    [
      'a product that carries into a new byte',
      { gasPrice: 2n ** 40n - 1n, gasSpent: 2n ** 40n - 1n, feeWei: (2n ** 40n - 1n) ** 2n }
    ],
    ['a fee of its own', { gasPrice: 7n, gasSpent: 8n, feeWei: 57n }],
    ['failed', { status: 4 }],
    ['a creation', { contractAddress: `0x${'ab'.repeat(20)}` }],
    [
      'much calldata of every kind',
      { data: `0x${'00'.repeat(9_000)}${'c3'.repeat(9_000)}${'00'.repeat(3)}01` }
    ],
    ['more calldata than a buffer is kept for', { data: `0x${'5a'.repeat(700_000)}` }],
    [
      'an access list longer than a buffer is kept for',
      {
        type: 1,
        accessList: Array.from({ length: 9_000 }, (_, i) => ({
          address: `0x${i.toString(16).padStart(40, '0')}` as const,
          storageKeys: i % 3 === 0 ? [`0x${i.toString(16).padStart(64, 'e')}` as const] : []
        }))
      }
    ]
  ])('are the same for %s', (_what, change) => {
    const transactions = [{ ...plain, ...change }, plain]
    expect(String(writeRecords(toChunk(transactions)))).toBe(expectedText(transactions))
  })

  it('are refused where decoding them would be, so that damage is never written out', () => {
    fc.assert(
      fc.property(arbitraryConfirmed, fc.nat(), fc.nat(255), (transaction, place, byte) => {
        const { ids, bytes } = toChunk([transaction])
        const damagedBytes = Buffer.from(bytes)
        damagedBytes[place % bytes.length] = byte
        for (const chunk of [
          { ids, bytes: damagedBytes },
          { ids, bytes: bytes.subarray(0, place % bytes.length) },
          { ids, bytes: Buffer.concat([bytes, bytes.subarray(0, 1 + (place % 9))]) }
        ]) {
          let expected: string | undefined
          try {
            expected = expectedText(decodeRecords(chunk))
          } catch {
            expect(() => writeRecords(chunk)).toThrow('the index is damaged: a record')
            continue
          }
          expect(String(writeRecords(chunk))).toBe(expected)
        }
      }),
      { seed, numRuns: 1_000 }
    )
  })
})

it('an address is checksummed whether it is remembered or not', () => {
  const few = createRecordWriter(formatAddress)
  fc.assert(
    fc.property(fc.array(arbitraryConfirmed, { minLength: 1, maxLength: 3 }), transactions => {
      const chunk = toChunk([...transactions, ...transactions])
      expect(String(few(chunk))).toBe(expectedText([...transactions, ...transactions]))
    }),
    { seed, numRuns: 100 }
  )
})
