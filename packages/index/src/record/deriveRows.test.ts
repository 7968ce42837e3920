import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arbitraryPlans } from '../../test/arbitraries.ts'
import { buildChain, people } from '../../test/buildChain.ts'
import type {
  Address,
  HoldingCandidate,
  IndexedBlock,
  IndexedTransaction,
  InternalTransfer,
  TokenTransfer,
  UserOperation
} from '../model/evm.ts'
import { deriveRows, type RunRows } from './deriveRows.ts'
import { encodeBlock } from './encodeBlock.ts'
import { findAccountEvents } from './extra.ts'
import { addressBytes, toHex } from './hexBytes.ts'
import { type PackedBlocks, packBlocks } from './packBlocks.ts'
import { roles } from './RecordRows.ts'
import { ByteWriter } from './recordBytes.ts'
import { writeToken } from './tokenKey.ts'
import { toTransactionId } from './transactionId.ts'

const person = fc.constantFrom(...people)
const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const tokenId = fc.oneof(fc.bigInt({ min: 0n, max: 3n }), amount)
const transfer: fc.Arbitrary<TokenTransfer> = fc
  .record({
    kind: fc.constantFrom('erc20', 'wrapping', 'erc721', 'range', 'erc1155'),
    parties: fc.record({ contract: person, from: person, to: person }),
    amount,
    ids: fc.tuple(tokenId, tokenId)
  })
  .map(({ kind, parties, amount, ids: [tokenId, lastTokenId] }) => {
    if (kind === 'erc20') return { standard: kind, ...parties, amount }
    if (kind === 'wrapping') return { standard: 'erc20', ...parties, amount, isWrapping: true }
    if (kind === 'erc1155') return { standard: kind, ...parties, tokenId, amount }
    if (kind === 'erc721' || lastTokenId <= tokenId) return { standard: 'erc721', ...parties, tokenId }
    return { standard: 'erc721', ...parties, tokenId, lastTokenId }
  })
const internal: fc.Arbitrary<InternalTransfer> = fc.record({
  kind: fc.constantFrom('call', 'create', 'selfdestruct'),
  ...{ from: person, to: person, value: amount }
})
const operation: fc.Arbitrary<UserOperation> = fc.record({
  ...{ entryPoint: person, sender: person, nonce: amount, success: fc.boolean(), actualGasCost: amount },
  userOpHash: fc.constant(`0x${'ab'.repeat(32)}` as const)
})

/** How the lists of a transaction relate to its record. */
const lists = fc.record({
  transfers: fc.array(transfer, { maxLength: 4 }),
  internal: fc.option(fc.array(internal, { maxLength: 3 }), { nil: undefined }),
  operations: fc.array(operation, { maxLength: 2 }),
  created: fc.option(person, { nil: undefined }),
  /** Listed besides those that follow from the record. */
  authorities: fc.array(person, { maxLength: 2 }),
  /** The transaction lists parties and candidates of its own, whatever its record says. */
  isStrange: fc.boolean()
})
type Lists = typeof lists extends fc.Arbitrary<infer Value> ? Value : never

/** Blocks of which some transactions have the parties and candidates that follow from their records, and some do not. */
const chain = fc
  .tuple(arbitraryPlans, fc.array(lists, { minLength: 1, maxLength: 20 }))
  .map(([plans, choices]) => {
    let at = 0
    return buildChain(plans, { firstNumber: 1_000 }).map(
      (block): IndexedBlock => ({
        ...block,
        transactions: block.transactions.map(each => withLists(each, choices[at++ % choices.length] as Lists))
      })
    )
  })

function withLists(each: IndexedTransaction, { isStrange, authorities, created, ...chosen }: Lists) {
  const { internal, ...others } = chosen
  const details = { ...others, ...(internal !== undefined && { internal }) }
  const transaction = { ...each.transaction, ...(created !== undefined && { contractAddress: created }) }
  if (isStrange) return { ...each, ...details, transaction }
  const { from, to = from, contractAddress } = transaction
  const moved = details.transfers.filter(({ isWrapping }) => !isWrapping)
  const parties: Address[] = [from, to, ...authorities]
  if (contractAddress !== undefined) parties.push(contractAddress)
  for (const pair of [...moved, ...(internal ?? [])]) parties.push(pair.from, pair.to)
  for (const { sender } of details.operations) parties.push(sender)
  return {
    ...details,
    transaction,
    parties: [...new Set(parties)],
    candidates: details.transfers.flatMap(candidatesOf)
  }
}

function candidatesOf(transfer: TokenTransfer): readonly HoldingCandidate[] {
  return ownersOf(transfer).map(([owner]) => candidateOf(transfer, owner))
}

/** Whose holdings a transfer changes, each with the role. */
function ownersOf({
  standard,
  from,
  to,
  isWrapping
}: TokenTransfer): readonly (readonly [Address, number])[] {
  const isMint = from === people[0]
  if (isMint || (standard === 'erc721' && !isWrapping)) return [[to, roles.tokenIn]]
  const sender = [from, roles.tokenOut] as const
  return isWrapping ? [sender] : [sender, [to, roles.tokenIn]]
}

function candidateOf(transfer: TokenTransfer, owner: Address): HoldingCandidate {
  const { standard, contract, tokenId, lastTokenId } = transfer
  const ids = { ...(tokenId !== undefined && { tokenId }), ...(lastTokenId !== undefined && { lastTokenId }) }
  return { owner, contract, standard, ...ids }
}

const pack = (blocks: readonly IndexedBlock[]) => packBlocks(blocks.map(encodeBlock))
/** The rows as they follow from what is stored. */
const derive = (packed: PackedBlocks) => deriveRows(packed.headers[0]?.ref.number ?? 0, packed)

/** Rows as sets, in words. */
function rowsIn(rows: RunRows) {
  const wordsAt = (bytes: Uint8Array, row: number, length: number) =>
    toHex(bytes.subarray(length * row, length * (row + 1)))
  return {
    hashes: [...rows.ids].map((id, row) => `${id} ${wordsAt(rows.hashes, row, 32)}`),
    parties: [...rows.partyIds]
      .map((id, row) => `${wordsAt(rows.partyAddresses, row, 20)} ${id} ${rows.partyRoles[row]}`)
      .sort(),
    candidates: [...rows.candidateIds]
      .map((id, row) => {
        const bytes = rows.candidates.subarray(rows.candidateEnds[row - 1] ?? 0, rows.candidateEnds[row])
        return `${toHex(bytes)} ${id} ${rows.candidateRoles[row]}`
      })
      .sort(),
    events: [...rows.eventBlocks].map((block, row) => `${wordsAt(rows.eventAddresses, row, 20)} ${block}`)
  }
}

/** The same as the blocks were given, with the roles that follow from the values of their transactions. */
function expectedRows(blocks: readonly IndexedBlock[]) {
  const transactions = blocks.flatMap(block => block.transactions)
  const rowsOf = (rows: (each: IndexedTransaction) => readonly (readonly [key: string, role: number])[]) =>
    transactions
      .flatMap(each => {
        const id = toTransactionId(each.transaction)
        return [...new Map(rows(each))].map(([key, role]) => `${key} ${id} ${role}`)
      })
      .sort()
  return {
    hashes: transactions.map(({ transaction }) => `${toTransactionId(transaction)} ${transaction.hash}`),
    parties: rowsOf(each => each.parties.map(party => [party, rolesOf(each, party)])),
    candidates: rowsOf(({ candidates, transfers = [] }) => {
      const moved = transfers.flatMap(each =>
        ownersOf(each).map(([owner, role]) => [keyOf(candidateOf(each, owner)), role] as const)
      )
      return candidates.map(keyOf).map(key => {
        const found = moved.reduce((bits, [of, role]) => (of === key ? bits | role : bits), 0)
        return [key, found || roles.tokenIn]
      })
    }),
    events: blocks.flatMap(({ ref, events = [] }) => events.map(({ address }) => `${address} ${ref.number}`))
  }
}

function rolesOf(each: IndexedTransaction, party: Address): number {
  const { transaction, transfers = [], internal = [], operations = [] } = each
  const moved = transfers.filter(({ isWrapping }) => !isWrapping)
  const has: readonly (readonly [role: number, whose: readonly (Address | undefined)[]])[] = [
    [roles.sent, [transaction.from]],
    [roles.received, [transaction.to]],
    [roles.created, [transaction.contractAddress]],
    [roles.tokenIn, moved.map(({ to }) => to)],
    [roles.tokenOut, moved.map(({ from }) => from)],
    [roles.internalIn, internal.map(({ to }) => to)],
    [roles.internalOut, internal.map(({ from }) => from)],
    [roles.signed, operations.map(({ sender }) => sender)]
  ]
  return has.reduce((bits, [role, whose]) => (whose.includes(party) ? bits | role : bits), 0) || roles.signed
}

function keyOf(candidate: HoldingCandidate): string {
  const writer = new ByteWriter(128)
  writeToken(writer, candidate)
  return `${candidate.owner}${writer.finish().toString('hex')}`
}

describe('rows derived from stored records', () => {
  it('are the parties, candidates and events that the blocks were given, with their roles', () => {
    fc.assert(
      fc.property(chain, blocks => {
        expect(rowsIn(derive(pack(blocks)))).toEqual(expectedRows(blocks))
      }),
      { numRuns: 300 }
    )
  })

  it('need no extra bytes where parties and candidates follow from the record', () => {
    fc.assert(
      fc.property(chain, lists, (blocks, choice) => {
        const plain = blocks.map(block => ({
          ...block,
          events: [],
          transactions: block.transactions.map(each =>
            withLists(each, { ...choice, authorities: [], isStrange: false })
          )
        }))
        expect(pack(plain).extras).toHaveLength(0)
      })
    )
  })

  it('are refused where records or extra bytes are those of other blocks', () => {
    const [first, second] = [people.slice(0, 2), people.slice(0, 3)]
    const plain = pack(buildChain([[{ name: 'a', parties: first }], [{ name: 'b', parties: first }]]))
    expect(() => derive({ ...plain, ids: plain.ids.map(id => id + 65_536) })).toThrow('of other blocks')
    expect(() => derive({ ...plain, ids: plain.ids.subarray(0, 1) })).toThrow('of other blocks')
    const packed = pack(buildChain([[{ name: 'a', parties: first }], [{ name: 'b', parties: second }]]))
    expect(() => derive({ ...packed, ids: packed.ids.subarray(0, 1) })).toThrow('a transaction that it lacks')
  })
})

describe('the extra bytes of a block', () => {
  it('hold the events of each of its accounts, and say where an account has none', () => {
    fc.assert(
      fc.property(chain, blocks => {
        const { extras, extraEnds } = pack(blocks)
        for (const [row, { events = [] }] of blocks.entries()) {
          const extra = extras.subarray(extraEnds[row - 1] ?? 0, extraEnds[row])
          for (const address of people) {
            const found = findAccountEvents(extra, addressBytes(address))
            expect(found).toEqual(events.find(each => each.address === address)?.events)
          }
        }
      })
    )
  })
})
