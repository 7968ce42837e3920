import type {
  Address,
  ConfirmedTransaction,
  InternalTransfer,
  TokenTransfer,
  UserOperation
} from '@chain-data/index'
import {
  decodeDetailed,
  type RecordChunk,
  type RecordDetails,
  toTransactionId
} from '@chain-data/index/record'
import {
  arbitraryAddress,
  arbitraryConfirmed,
  arbitraryUint256,
  encodeConfirmed
} from '@chain-data/index/test'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAddressFormat } from '../../platform/addressFormat.ts'
import { exactJson } from '../../platform/exactJson.ts'
import { type Attached, createRecordWriter, toTransactionRecord } from './createRecordWriter.ts'

const seed = Number(process.env.CHAIN_DATA_SEED ?? 1)
const formatAddress = createAddressFormat()
const writeRecords = createRecordWriter(formatAddress)

interface Detailed {
  readonly transaction: ConfirmedTransaction
  readonly details: RecordDetails
}

function toChunk(all: readonly Detailed[]): RecordChunk {
  return {
    ids: all.map(({ transaction }) => toTransactionId(transaction)),
    bytes: Buffer.concat(all.map(({ transaction, details }) => encodeConfirmed(transaction, details)))
  }
}

/** The slow and obvious way. */
function expectedText(all: readonly Detailed[], attached: Attached): string {
  const touches = ({ from, to }: { from: Address; to: Address }) =>
    from === attached.address || to === attached.address
  const records = all.map(({ transaction, details }) => ({
    ...toTransactionRecord(transaction, formatAddress),
    // Only a receipt shows them.
    ...(attached.transfers &&
      transaction.status !== undefined && {
        transfers: details.transfers.filter(each => !each.isWrapping && touches(each)).map(toWireTransfer)
      }),
    ...(attached.internal &&
      details.internal && { internal: details.internal.filter(touches).map(toWireInternal) }),
    ...(attached.operations &&
      transaction.status !== undefined && {
        operations: details.operations
          .filter(({ sender, paymaster }) => [sender, paymaster].includes(attached.address))
          .map(toWireOperation)
      })
  }))
  return exactJson(records).slice(1, -1)
}

const standards = { erc20: 'ERC-20', erc721: 'ERC-721', erc1155: 'ERC-1155' }

function toWireTransfer({ standard, contract, from, to, amount, tokenId, lastTokenId }: TokenTransfer) {
  return {
    standard: standards[standard],
    address: formatAddress(contract),
    from: formatAddress(from),
    to: formatAddress(to),
    ...(amount === undefined ? {} : { amount: String(amount) }),
    ...(tokenId === undefined ? {} : { tokenId: String(tokenId) }),
    ...(lastTokenId === undefined ? {} : { lastTokenId: String(lastTokenId) })
  }
}

function toWireInternal({ kind, from, to, value }: InternalTransfer) {
  return { kind, from: formatAddress(from), to: formatAddress(to), value: `0x${value.toString(16)}` }
}

function toWireOperation({ entryPoint, sender, paymaster, nonce, actualGasCost, ...rest }: UserOperation) {
  return {
    entryPoint: formatAddress(entryPoint),
    userOpHash: rest.userOpHash,
    sender: formatAddress(sender),
    ...(paymaster && { paymaster: formatAddress(paymaster) }),
    nonce: `0x${nonce.toString(16)}`,
    success: rest.success,
    actualGasCost: `0x${actualGasCost.toString(16)}`
  }
}

const account: Address = `0x${'a1'.repeat(20)}`
const other: Address = `0x${'b2'.repeat(20)}`
const zero: Address = `0x${'00'.repeat(20)}`
const anyone = fc.oneof(fc.constantFrom(account, account, other, zero), arbitraryAddress)
const parties = { contract: anyone, from: anyone, to: anyone }
const arbitraryTransfer: fc.Arbitrary<TokenTransfer> = fc
  .record({
    ...parties,
    shape: fc.constantFrom('erc20', 'erc721', 'erc1155', 'range', 'wrapping'),
    one: arbitraryUint256,
    more: arbitraryUint256
  })
  .map(({ shape, contract, from, to, one, more }) => {
    const who = { contract, from, to }
    if (shape === 'erc20') return { standard: 'erc20', ...who, amount: one }
    if (shape === 'wrapping') return { standard: 'erc20', ...who, amount: one, isWrapping: true }
    if (shape === 'erc1155') return { standard: 'erc1155', ...who, tokenId: one, amount: more }
    if (shape === 'range') return { standard: 'erc721', ...who, tokenId: one, lastTokenId: one + 1n + more }
    return { standard: 'erc721', ...who, tokenId: one }
  })
const arbitraryInternal: fc.Arbitrary<InternalTransfer> = fc.record(
  {
    kind: fc.constantFrom('call' as const, 'create' as const, 'selfdestruct' as const),
    from: anyone,
    to: anyone,
    value: arbitraryUint256
  },
  { noNullPrototype: true }
)
const arbitraryOperation: fc.Arbitrary<UserOperation> = fc
  .record(
    {
      entryPoint: anyone,
      userOpHash: arbitraryUint256.map(hash => `0x${hash.toString(16).padStart(64, '0')}` as const),
      sender: anyone,
      payer: anyone,
      nonce: arbitraryUint256,
      success: fc.boolean(),
      actualGasCost: arbitraryUint256
    },
    { noNullPrototype: true }
  )
  .map(({ payer, ...operation }) => (payer === zero ? operation : { ...operation, paymaster: payer }))
const arbitraryDetails: fc.Arbitrary<RecordDetails> = fc.record(
  {
    transfers: fc.array(arbitraryTransfer, { maxLength: 6 }),
    internal: fc.array(arbitraryInternal, { maxLength: 6 }),
    operations: fc.array(arbitraryOperation, { maxLength: 6 })
  },
  { noNullPrototype: true, requiredKeys: ['transfers', 'operations'] }
)
const word = (value: bigint | string) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0')
/** Some of them calls whose transfer is what their calldata say. */
const arbitraryDetailed: fc.Arbitrary<Detailed> = fc
  .record({
    transaction: arbitraryConfirmed,
    details: arbitraryDetails,
    to: anyone,
    amount: arbitraryUint256
  })
  .map(({ transaction, details, to, amount }) => {
    // Only a receipt shows transfers and operations.
    if (transaction.status === undefined) {
      return { transaction, details: { ...details, transfers: [], operations: [] } }
    }
    const [first, ...rest] = details.transfers
    if (first?.standard !== 'erc20') return { transaction, details }
    const data = `0xa9059cbb${word(to)}${word(amount)}` as const
    const call = { ...transaction, to: first.contract, data }
    const said: TokenTransfer = {
      standard: 'erc20',
      contract: first.contract,
      from: transaction.from,
      to,
      amount
    }
    return { transaction: call, details: { ...details, transfers: [said, ...rest] } }
  })
const choices = [
  { transfers: true, internal: false, operations: false },
  { transfers: false, internal: true, operations: false },
  { transfers: false, internal: false, operations: true },
  { transfers: true, internal: true, operations: true },
  { transfers: false, internal: false, operations: false }
]

describe(`what is attached to records (CHAIN_DATA_SEED=${seed})`, () => {
  it('is what the way over values gives, whatever is in them', () => {
    fc.assert(
      fc.property(
        fc.array(arbitraryDetailed, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(...choices),
        fc.boolean(),
        (all, choice, isSender) => {
          const address = (isSender ? all[0]?.transaction.from : undefined) ?? account
          const chunk = toChunk(all)
          expect(decodeDetailed(chunk)).toEqual(all)
          const attached = { address, ...choice }
          expect(String(writeRecords(chunk, attached))).toBe(expectedText(all, attached))
        }
      ),
      { seed, numRuns: 500 }
    )
  })

  it('is whole where there is much of it, more than a buffer is kept for', () => {
    const transaction = fc.sample(arbitraryConfirmed, { seed, numRuns: 1 })[0]
    if (transaction === undefined) throw new Error('nothing was made')
    const transfers = Array.from(
      { length: 4_000 },
      (_, i): TokenTransfer => ({
        standard: 'erc1155',
        contract: other,
        from: i % 5 === 0 ? zero : account,
        to: i % 7 === 0 ? account : other,
        tokenId: 2n ** 256n - 1n - BigInt(i),
        amount: 2n ** 255n + BigInt(i)
      })
    )
    const all = [
      { transaction, details: { transfers, internal: [], operations: [] } },
      { transaction, details: { transfers: [], operations: [] } }
    ]
    const attached = { address: account, transfers: true, internal: true, operations: true }
    expect(String(writeRecords(toChunk(all), attached))).toBe(expectedText(all, attached))
  })

  it('is refused where decoding it would be, so that damage is never written out', () => {
    const attached = { address: account, transfers: true, internal: true, operations: true }
    fc.assert(
      fc.property(arbitraryDetailed, fc.nat(), fc.nat(255), (one, place, byte) => {
        const { ids, bytes } = toChunk([one])
        const changed = Buffer.from(bytes)
        changed[place % bytes.length] = byte
        for (const chunk of [
          { ids, bytes: changed },
          { ids, bytes: bytes.subarray(0, place % bytes.length) }
        ]) {
          let expected: string | undefined
          try {
            expected = expectedText(decodeDetailed(chunk), attached)
          } catch {
            expect(() => writeRecords(chunk, attached)).toThrow('the index is damaged: a record')
            continue
          }
          expect(String(writeRecords(chunk, attached))).toBe(expected)
        }
      }),
      { seed, numRuns: 500 }
    )
  })
})
