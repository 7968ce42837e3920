import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  arbitraryAddress,
  arbitraryConfirmed as arbitraryStored,
  arbitraryUint256
} from '../../test/arbitraries.ts'
import { encodeConfirmed } from '../../test/encodeConfirmed.ts'
import { decodeRecords } from '../../test/readAll.ts'
import type { ConfirmedTransaction, InternalTransfer, TokenTransfer, UserOperation } from '../model/evm.ts'
import { StoreError } from '../platform/errors.ts'
import { decodeDetailed, type RecordDetails } from './details.ts'
import { sumLength } from './RecordParts.ts'
import { toTransactionId } from './transactionId.ts'

const seed = Number(process.env.CHAIN_DATA_SEED ?? 1)

const word = (value: bigint | string) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
const zero = `0x${'0'.repeat(40)}` as const
const people = [1, 2, 3].map(digit => `0x${String(digit).repeat(40)}` as const)
const [alice = zero, token = zero, bob = zero] = people
const amount = 0x0de0b6b3a7640000n

/** A plain call of `transfer(address,uint256)`. */
const call: ConfirmedTransaction = {
  hash: `0x${'ab'.repeat(32)}`,
  from: alice,
  to: token,
  value: 0n,
  data: `0xa9059cbb${word(bob)}${word(amount)}`,
  gasLimit: 60_000n,
  nonce: 7n,
  type: 0,
  blockNumber: 20_000_000,
  index: 3,
  timestampSeconds: 1_700_000_000,
  status: 3,
  gasPrice: 5n,
  gasSpent: 51_234n,
  feeWei: 5n * 51_234n
}
const said: TokenTransfer = { standard: 'erc20', contract: token, from: alice, to: bob, amount }

function read(bytes: Uint8Array): RecordDetails {
  const [first] = decodeDetailed({ ids: [toTransactionId(call)], bytes })
  return first?.details ?? expect.fail('there is no record')
}

/** Bytes that the transfers of a transaction add to its record. */
function costOf(transaction: ConfirmedTransaction, transfers: readonly TokenTransfer[]): number {
  const size = (list: readonly TokenTransfer[]) => encodeConfirmed(transaction, { transfers: list }).length
  return size(transfers) - size([])
}

/** Some addresses come again and again, others once; some stand in the record. */
const anyone = (transaction: ConfirmedTransaction) =>
  fc.oneof(fc.constantFrom(zero, ...people, transaction.from, transaction.to ?? zero), arbitraryAddress)
const arbitraryTransfer = (transaction: ConfirmedTransaction): fc.Arbitrary<TokenTransfer> =>
  fc
    .record({
      shape: fc.constantFrom('erc20', 'erc721', 'erc1155', 'range', 'wrapping'),
      contract: anyone(transaction),
      from: anyone(transaction),
      to: anyone(transaction),
      one: arbitraryUint256,
      other: arbitraryUint256
    })
    .map(({ shape, contract, from, to, one, other }) => {
      const parties = { contract, from, to }
      if (shape === 'erc20') return { standard: 'erc20', ...parties, amount: one }
      if (shape === 'wrapping') return { standard: 'erc20', ...parties, amount: one, isWrapping: true }
      if (shape === 'erc1155') return { standard: 'erc1155', ...parties, amount: one, tokenId: other }
      const range = shape === 'range' && one !== other
      return range
        ? { standard: 'erc721', ...parties, tokenId: min(one, other), lastTokenId: max(one, other) }
        : { standard: 'erc721', ...parties, tokenId: one }
    })
const min = (a: bigint, b: bigint) => (a < b ? a : b)
const max = (a: bigint, b: bigint) => (a < b ? b : a)

const arbitraryInternal = (transaction: ConfirmedTransaction): fc.Arbitrary<InternalTransfer> =>
  fc.record(
    {
      kind: fc.constantFrom('call', 'create', 'selfdestruct'),
      from: anyone(transaction),
      to: anyone(transaction),
      value: arbitraryUint256
    },
    { noNullPrototype: true }
  )

/** Calls whose first words are addresses, beside all others. */
const arbitraryOperation = (transaction: ConfirmedTransaction): fc.Arbitrary<UserOperation> =>
  fc
    .record(
      {
        entryPoint: anyone(transaction),
        userOpHash: arbitraryUint256.map(hash => `0x${word(hash)}` as const),
        sender: anyone(transaction),
        payer: anyone(transaction),
        nonce: arbitraryUint256,
        success: fc.boolean(),
        actualGasCost: arbitraryUint256
      },
      { noNullPrototype: true }
    )
    .map(({ payer, ...operation }) => (payer === zero ? operation : { ...operation, paymaster: payer }))

/** Only a receipt shows transfers and operations. */
const arbitraryConfirmed = arbitraryStored.filter(({ status }) => status !== undefined)

const arbitraryTransaction = fc.oneof(
  arbitraryConfirmed,
  fc
    .tuple(
      arbitraryConfirmed,
      fc.constantFrom('a9059cbb', '23b872dd', '12345678'),
      fc.array(fc.oneof(fc.constantFrom(...people, zero).map(word), arbitraryUint256.map(word)), {
        maxLength: 4
      }),
      fc.nat({ max: 31 })
    )
    .map(([transaction, selector, words, cut]) => {
      const data = `0x${selector}${words.join('')}`
      return {
        ...transaction,
        data: data.slice(0, data.length - 2 * (words.length > 0 ? cut % 3 : 0)) as `0x${string}`
      }
    }),
  fc.tuple(arbitraryConfirmed, arbitraryAddress, arbitraryUint256).map(([transaction, to, value]) => ({
    ...transaction,
    to: token,
    data: `0xa9059cbb${word(to)}${word(value)}` as const
  }))
)

const arbitraryDetailed = arbitraryTransaction.chain(transaction => {
  const { from, to = zero, data } = transaction
  const own: TokenTransfer[] = /^0xa9059cbb0{24}.{104}$/.test(data)
    ? [
        {
          standard: 'erc20',
          contract: to,
          from,
          to: `0x${data.slice(34, 74)}`,
          amount: BigInt(`0x${data.slice(74)}`)
        }
      ]
    : []
  const transfer =
    own.length > 0
      ? fc.oneof(fc.constantFrom(...own), arbitraryTransfer(transaction))
      : arbitraryTransfer(transaction)
  // Batches have the same parties again and again.
  const run = fc
    .tuple(transfer, fc.nat({ max: 3 }))
    .map(([each, times]) => Array.from({ length: 1 + times }, () => each))
  return fc
    .record(
      {
        transfers: fc.array(run, { maxLength: 5 }).map(runs => runs.flat()),
        internal: fc.array(arbitraryInternal(transaction), { maxLength: 5 }),
        operations: fc.array(arbitraryOperation(transaction), { maxLength: 3 })
      },
      { requiredKeys: ['transfers', 'operations'], noNullPrototype: true }
    )
    .map(details => ({ transaction, details }))
})

describe(`details of records (CHAIN_DATA_SEED=${seed})`, () => {
  it('come back exactly, and the transaction as if there were none', () => {
    fc.assert(
      fc.property(fc.array(arbitraryDetailed, { minLength: 1, maxLength: 4 }), detailed => {
        const chunk = {
          ids: detailed.map(({ transaction }) => toTransactionId(transaction)),
          bytes: Buffer.concat(
            detailed.map(({ transaction, details }) => encodeConfirmed(transaction, details))
          )
        }
        expect(decodeDetailed(chunk)).toStrictEqual(detailed)
        expect(decodeRecords(chunk)).toStrictEqual(detailed.map(({ transaction }) => transaction))
      }),
      { seed, numRuns: 1_000 }
    )
  })

  it('have internal transfers only where the block was traced', () => {
    expect(read(encodeConfirmed(call))).toEqual({ transfers: [], operations: [] })
    expect(read(encodeConfirmed(call, { internal: [] }))).toEqual({
      transfers: [],
      internal: [],
      operations: []
    })
  })

  it('add three bytes for a transfer that the calldata say word for word', () => {
    expect(costOf(call, [said])).toBe(3)
    expect(costOf(call, [said, said])).toBe(4)
  })

  it.each<[string, Partial<TokenTransfer>]>([
    ['another amount', { amount: amount - 1n }],
    ['another receiver', { to: token }],
    ['another sender', { from: bob }],
    ['another contract', { contract: bob }],
    ['wrapped currency', { isWrapping: true }]
  ])('do not take the calldata for a transfer of %s', (_, change) => {
    const transfer = { ...said, ...change }
    expect(read(encodeConfirmed(call, { transfers: [transfer] }))).toStrictEqual({
      transfers: [transfer],
      operations: []
    })
    expect(costOf(call, [transfer])).toBeGreaterThan(3)
  })

  it('add no address that the transaction has', () => {
    const data = `0x23b872dd${word(bob)}${word(alice)}${word(5n)}` as const
    expect(costOf({ ...call, data }, [{ ...said, from: bob, to: alice, amount: 5n }])).toBeLessThan(10)
    const mint = { ...said, from: zero, to: alice, amount: 5n }
    expect(costOf({ ...call, data: '0x1249c58b' }, [mint])).toBeLessThan(10)
  })

  it('hold a batch of ten thousand ids of 256 bits, with its parties once', () => {
    const batch = Array.from(
      { length: 10_000 },
      (_, i): TokenTransfer => ({
        ...said,
        standard: 'erc1155',
        to: token,
        tokenId: 2n ** 256n - 1n - BigInt(i),
        amount: 2n ** 256n - 1n
      })
    )
    const bytes = encodeConfirmed(call, { transfers: batch })
    expect(read(bytes).transfers).toEqual(batch)
    expect(bytes.length).toBeLessThan(10_000 * 67 + 300)
  })

  it('hold transfers among ten thousand accounts', () => {
    const many = Array.from(
      { length: 10_000 },
      (_, i): TokenTransfer => ({ ...said, to: `0x${(i + 1).toString(16).padStart(40, 'e')}` })
    )
    const transfers = [...many, ...many]
    expect(read(encodeConfirmed(call, { transfers })).transfers).toEqual(transfers)
  })

  it.each<[string, TokenTransfer]>([
    ['an ERC-20 id', { ...said, tokenId: 1n }],
    ['no amount', { standard: 'erc20', contract: token, from: alice, to: bob }],
    ['an amount of ERC-721', { ...said, standard: 'erc721', tokenId: 1n }],
    ['a range of ERC-1155', { ...said, standard: 'erc1155', tokenId: 1n, lastTokenId: 2n }],
    ['a negative amount', { ...said, amount: -1n }],
    ['an address that is none', { ...said, from: '0x12' }]
  ])('refuse what they have no place for: %s', (_, transfer) => {
    expect(() => encodeConfirmed(call, { transfers: [transfer] })).toThrow(StoreError)
  })
})

describe(`damaged details (CHAIN_DATA_SEED=${seed})`, () => {
  const bytes = encodeConfirmed(call, {
    transfers: [said, { ...said, to: alice }, { ...said, to: alice, amount: 3n }],
    internal: [{ kind: 'call', from: token, to: bob, value: 5n }],
    operations: [
      {
        ...{ entryPoint: token, userOpHash: call.hash, sender: bob, paymaster: alice },
        ...{ nonce: 2n ** 64n, success: true, actualGasCost: amount }
      }
    ]
  })

  it('cut anywhere are refused', () => {
    for (let length = 0; length < bytes.length; length++) {
      expect(() => read(bytes.subarray(0, length)), `${length} bytes`).toThrow(StoreError)
    }
  })

  it.each([
    ['an unknown shape', [6, 0, 1, 2, 0]],
    ['parties of a transfer before the first', [9, 0]],
    ['an address that nobody named', [1, 99, 1, 2, 0]],
    ['an amount that starts with zeros', [1, 0, 1, 2, 1, 0]],
    ['a transfer that breaks off', [1, 0, 1, 2, 4, 1]],
    ['calldata that say nothing', [0]]
  ])('with %s are a StoreError', (_, part) => {
    // Transfers stand at the end of the record, before its sum.
    const plain = { ...call, data: '0x' as const }
    const whole = encodeConfirmed(plain, { transfers: [said] })
    const length = costOf(plain, [said]) - 2
    const wrong = Buffer.concat([
      whole.subarray(0, whole.length - sumLength - length - 1),
      Buffer.of(part.length, ...part),
      Buffer.alloc(sumLength)
    ])
    expect(() => read(wrong)).toThrow(StoreError)
  })

  it('changed at random are read as something, or are a StoreError', () => {
    let refused = 0
    fc.assert(
      fc.property(arbitraryDetailed, fc.nat(), fc.nat(255), ({ transaction, details }, place, byte) => {
        const changed = Buffer.from(encodeConfirmed(transaction, details))
        changed[changed.length - 1 - (place % Math.min(changed.length, 120))] = byte
        try {
          decodeDetailed({ ids: [toTransactionId(transaction)], bytes: changed })
        } catch (error) {
          expect(error).toBeInstanceOf(StoreError)
          refused++
        }
      }),
      { seed, numRuns: 3_000 }
    )
    expect(refused).toBeGreaterThan(100)
  })
})
