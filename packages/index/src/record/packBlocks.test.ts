import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildChain, people } from '../../test/buildChain.ts'
import { encodeConfirmed } from '../../test/encodeConfirmed.ts'
import type { Address, HoldingCandidate, IndexedBlock } from '../model/evm.ts'
import { StoreError } from '../platform/errors.ts'
import { type BlocksWithRows, withRows } from './deriveRows.ts'
import { encodeBlock } from './encodeBlock.ts'
import { accountEventsIn } from './extra.ts'
import { toHex } from './hexBytes.ts'
import { buffersOf, packBlocks } from './packBlocks.ts'
import { candidateHeadLength, standardOf, tokenIdsOf } from './tokenKey.ts'
import { toTransactionId } from './transactionId.ts'

const address = fc.oneof(
  fc.constantFrom(...people),
  fc.uint8Array({ minLength: 20, maxLength: 20 }).map(bytes => toHex(bytes)),
  // Alike in their first bytes, which is where sorting looks first.
  fc.nat({ max: 3_000 }).map((last): Address => `0x${'ab'.repeat(18)}${last.toString(16).padStart(4, '0')}`)
)
const candidate: fc.Arbitrary<HoldingCandidate> = fc
  .tuple(
    fc.constantFrom(...people),
    fc.constantFrom(...people),
    fc.constantFrom('erc20', 'erc721', 'erc1155', 'range'),
    fc.bigInt({ min: 0n, max: 2n ** 256n - 2n })
  )
  .map(([owner, contract, kind, tokenId]) => {
    if (kind === 'erc20') return { owner, contract, standard: 'erc20' }
    if (kind === 'range') return { owner, contract, standard: 'erc721', tokenId, lastTokenId: tokenId + 1n }
    return { owner, contract, standard: kind as 'erc721' | 'erc1155', tokenId: tokenId % 5n }
  })
const plan = fc.record({
  parties: fc.array(address, { minLength: 1, maxLength: 6 }),
  candidates: fc.array(candidate, { maxLength: 4 }),
  gap: fc.nat({ max: 3 })
})
const chain = fc
  .array(fc.array(plan, { maxLength: 12 }), { maxLength: 6 })
  .map(blocks =>
    buildChain(
      blocks.map((plans, block) => plans.map((each, place) => ({ ...each, name: `${block} ${place}` })))
    )
  )

const pack = (blocks: readonly IndexedBlock[]) => withRows(packBlocks(blocks.map(encodeBlock)))

describe('packed blocks', () => {
  it('hold every transaction with its hash and its record, in the order of the chain', () => {
    fc.assert(
      fc.property(chain, blocks => {
        const { ids, hashes, records, recordEnds, headers } = pack(blocks)
        const transactions = blocks.flatMap(block => block.transactions.map(({ transaction }) => transaction))
        expect([...ids]).toEqual(transactions.map(toTransactionId))
        expect(rows(hashes, 32)).toEqual(transactions.map(({ hash }) => hash))
        expect(
          [...recordEnds].map((end, row) => toHex(records.subarray(recordEnds[row - 1] ?? 0, end)))
        ).toEqual(transactions.map(transaction => toHex(encodeConfirmed(transaction))))
        expect(headers).toEqual(
          blocks.map(({ ref, parentHash, timestampSeconds, transactions: { length } }) => ({
            ...{ ref, parentHash, timestampSeconds, transactionCount: length, isTraced: false },
            hasVerifiedRoots: false,
            hasUnknown: false
          }))
        )
      })
    )
  })

  it('hold each address of each transaction once', () => {
    fc.assert(
      fc.property(chain, blocks => {
        const packed = pack(blocks)
        const expected = blocks.flatMap(({ transactions }) =>
          transactions.flatMap(({ transaction, parties }) =>
            [...new Set(parties)].map(party => ({ address: party, id: toTransactionId(transaction) }))
          )
        )
        expect(addressRows(packed).sort(inOrder)).toEqual(expected.sort(inOrder))
      })
    )
  })

  it('hold each candidate of each transaction, as often as it has it', () => {
    fc.assert(
      fc.property(chain, blocks => {
        const packed = pack(blocks)
        const expected = blocks.flatMap(({ transactions }) =>
          transactions.flatMap(({ transaction, candidates }) =>
            candidates.map(each => `${toTransactionId(transaction)} ${textOf(each)}`)
          )
        )
        const read = candidateRows(packed).map((each, row) => `${packed.candidateIds[row]} ${textOf(each)}`)
        expect(new Set(read)).toEqual(new Set(expected))
      })
    )
  })

  it('hold what each block does to each account, in the order of the chain', () => {
    fc.assert(
      fc.property(chain, blocks => {
        const expected = blocks.flatMap(({ ref, events = [] }) =>
          events.map(each => ({ block: ref.number, ...each }))
        )
        expect(eventRows(pack(blocks))).toEqual(expected)
      })
    )
  })

  it('keep no memory with who hands them on', () => {
    const packed = packBlocks(buildChain([[{ name: 'a', parties: people.slice(0, 2) }]]).map(encodeBlock))
    const received = structuredClone(packed, { transfer: [...buffersOf(packed)] })
    expect(addressRows(withRows(received))).toHaveLength(2)
    expect(buffersOf(packed).every(({ byteLength }) => byteLength === 0)).toBe(true)
  })

  it('refuse a candidate whose standard and ids do not go together', () => {
    const [owner, contract] = people
    if (owner === undefined || contract === undefined) throw new Error('no people')
    const wrong = [
      { owner, contract, standard: 'erc20', tokenId: 1n },
      { owner, contract, standard: 'erc721' },
      { owner, contract, standard: 'erc1155', tokenId: 1n, lastTokenId: 2n }
    ] as const
    for (const each of wrong) {
      expect(() => pack(buildChain([[{ name: 'a', parties: [owner], candidates: [each] }]]))).toThrow(
        StoreError
      )
    }
  })
})

function rows(bytes: Uint8Array, length: number): readonly Address[] {
  return Array.from({ length: bytes.length / length }, (_, row) =>
    toHex(bytes.subarray(row * length, (row + 1) * length))
  )
}

interface AddressRow {
  readonly address: Address
  readonly id: number
}

function inOrder(a: AddressRow, b: AddressRow): number {
  return a.address < b.address ? -1 : a.address > b.address ? 1 : a.id - b.id
}

function textOf({ owner, contract, standard, tokenId, lastTokenId }: HoldingCandidate): string {
  return `${owner} ${contract} ${standard} ${tokenId} ${lastTokenId}`
}

function addressRows({ partyAddresses, partyIds }: BlocksWithRows) {
  return rows(partyAddresses, 20).map((each, row) => ({ address: each, id: partyIds[row] ?? -1 }))
}

function eventRows({ headers, extras, extraEnds }: BlocksWithRows) {
  return headers.flatMap(({ ref }, at) =>
    accountEventsIn(extras.subarray(extraEnds[at - 1] ?? 0, extraEnds[at])).map(each => ({
      block: ref.number,
      ...each
    }))
  )
}

function candidateRows({ candidates, candidateEnds }: BlocksWithRows): readonly HoldingCandidate[] {
  return [...candidateEnds].map((end, row) => {
    const entry = candidates.subarray(candidateEnds[row - 1] ?? 0, end)
    return {
      owner: toHex(entry.subarray(0, 20)),
      contract: toHex(entry.subarray(20, 40)),
      standard: standardOf(entry[40] ?? -1),
      ...tokenIdsOf(entry.subarray(candidateHeadLength))
    }
  })
}
