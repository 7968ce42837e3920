import fc from 'fast-check'
import type { AccessListEntry, ConfirmedTransaction, Hex, HoldingCandidate } from '../src/model/evm.ts'
import type { PendingRecord } from '../src/record/record.ts'
import { people, type TransactionPlan } from './buildChain.ts'
import type { StoreLayout } from './store.contract.ts'

const toHex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`

const arbitraryHash = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex)
export const arbitraryAddress = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toHex)

/** Edges of every width that an amount is stored in, and anything between. */
export const arbitraryUint256 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  fc
    .nat({ max: 256 })
    .chain(bits => fc.constantFrom(2n ** BigInt(bits) - 1n, 2n ** BigInt(Math.min(bits, 255)))),
  fc.bigInt({ min: 0n, max: 2n ** 64n })
)
const arbitraryUint64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.constantFrom(0n, 1n, 21_000n, 2n ** 48n - 1n, 2n ** 48n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n)
)

/** Calldata as it comes: words padded with zeros on either side, and anything else. */
const arbitraryData = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.nat({ max: 70 }).map(length => new Uint8Array(length))
    ),
    { maxLength: 12 }
  )
  .map(parts => toHex(Buffer.concat(parts)))

const arbitraryAccessList: fc.Arbitrary<readonly AccessListEntry[]> = fc.array(
  fc.record(
    { address: arbitraryAddress, storageKeys: fc.array(arbitraryHash, { maxLength: 3 }) },
    { noNullPrototype: true }
  ),
  { maxLength: 3 }
)

const sharedModel = {
  hash: arbitraryHash,
  from: arbitraryAddress,
  to: arbitraryAddress,
  value: arbitraryUint256,
  data: arbitraryData,
  gasLimit: arbitraryUint64,
  nonce: arbitraryUint64,
  type: fc.oneof(fc.nat({ max: 4 }), fc.constantFrom(0x64, 0x7e, 0x7f, 255, 2 ** 31)),
  accessList: arbitraryAccessList,
  maxFeePerGas: arbitraryUint256,
  maxPriorityFeePerGas: arbitraryUint256,
  maxFeePerBlobGas: arbitraryUint256,
  blobVersionedHashes: fc.array(arbitraryHash, { maxLength: 3 })
}

/** Every combination of present and absent fields; an absent one has no key. */
export const arbitraryPendingRecord: fc.Arbitrary<PendingRecord> = fc.record(
  { ...sharedModel, gasPrice: arbitraryUint256 },
  { noNullPrototype: true, requiredKeys: ['hash', 'from', 'value', 'data', 'gasLimit', 'nonce', 'type'] }
)

/** Fees both as the product that the format leaves out and as anything else; some without a receipt. */
export const arbitraryConfirmed: fc.Arbitrary<ConfirmedTransaction> = fc
  .record(
    {
      ...sharedModel,
      blockNumber: fc.nat({ max: 2 ** 37 - 1 }),
      index: fc.nat({ max: 65_535 }),
      timestampSeconds: fc.oneof(fc.nat(), fc.constantFrom(0, 1_700_000_000, Number.MAX_SAFE_INTEGER)),
      status: fc.constantFrom(3 as const, 4 as const),
      gasPrice: arbitraryUint256,
      gasSpent: arbitraryUint64,
      feeWei: fc.oneof(fc.constant(undefined), arbitraryUint256),
      contractAddress: arbitraryAddress,
      isUnknown: fc.nat({ max: 4 })
    },
    {
      noNullPrototype: true,
      requiredKeys: [
        ...(['hash', 'from', 'value', 'data', 'gasLimit', 'nonce', 'type'] as const),
        ...([
          'blockNumber',
          'index',
          'timestampSeconds',
          'status',
          'gasPrice',
          'gasSpent',
          'feeWei',
          'isUnknown'
        ] as const)
      ]
    }
  )
  .map(({ isUnknown, status, gasPrice, gasSpent, feeWei, contractAddress, ...own }) => {
    if (isUnknown === 0) return own
    const whole = { ...own, status, gasPrice, gasSpent, feeWei: feeWei ?? gasPrice * gasSpent }
    return contractAddress === undefined ? whole : { ...whole, contractAddress }
  })

/** Ids, and ranges of them, of which many begin at the same id or lie in each other. */
const arbitraryTokenId = fc.oneof(arbitraryUint256, fc.bigInt({ min: 0n, max: 3n }))

const arbitraryCandidate: fc.Arbitrary<HoldingCandidate> = fc
  .record({
    owner: fc.constantFrom(...people),
    contract: fc.constantFrom(...people),
    kind: fc.constantFrom('erc20' as const, 'erc721' as const, 'erc1155' as const, 'range' as const),
    tokenId: arbitraryTokenId,
    other: arbitraryTokenId
  })
  .map(({ owner, contract, kind, tokenId, other }) => {
    if (kind === 'erc20') return { owner, contract, standard: kind }
    if (kind !== 'range' || tokenId === other) {
      return { owner, contract, standard: kind === 'erc1155' ? kind : 'erc721', tokenId }
    }
    const [first, last] = tokenId < other ? [tokenId, other] : [other, tokenId]
    return { owner, contract, standard: 'erc721', tokenId: first, lastTokenId: last }
  })

/** A few blocks of a few transactions among `people`; every transaction has a name of its own. */
export const arbitraryPlans: fc.Arbitrary<readonly (readonly TransactionPlan[])[]> = fc
  .array(
    fc.array(
      fc.record({
        parties: fc.uniqueArray(fc.constantFrom(...people), { minLength: 1, maxLength: 4 }),
        candidates: fc.array(arbitraryCandidate, { maxLength: 3 }),
        gap: fc.constantFrom(0, 0, 0, 1, 1000)
      }),
      { maxLength: 5 }
    ),
    { minLength: 1, maxLength: 12 }
  )
  .map(blocks =>
    blocks.map((block, number) => block.map((plan, index) => ({ ...plan, name: `tx ${number}/${index}` })))
  )

/** From runs that are never merged to runs that always are, in pieces of any size, each with a filter or none. */
export const arbitraryLayout: fc.Arbitrary<Partial<StoreLayout>> = fc.record({
  maxRuns: fc.constantFrom(0, 2, 100),
  mergeFactor: fc.integer({ min: 2, max: 4 }),
  unmergedBlocks: fc.nat({ max: 3 }),
  pieceRows: fc.constantFrom(3, 1_000),
  pieceChunks: fc.constantFrom(2, 1_000),
  maxFiltered: fc.constantFrom(0, 1_000),
  resealTransactions: fc.integer({ min: 1, max: 5 })
})
