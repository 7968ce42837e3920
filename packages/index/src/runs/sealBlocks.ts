import type { RunRows } from '../record/deriveRows.ts'
import { firstTransactionId, maxTransactionsPerBlock } from '../record/transactionId.ts'
import type { Chunk } from './chunk.ts'
import { Filter, sealFilter } from './filters.ts'
import { bitsFor, type IdCoding } from './keys.ts'
import { compareBytes, orderByBytes } from './orderByBytes.ts'
import type { Run } from './run.ts'
import { SectionWriter } from './SectionWriter.ts'
import { type Section, sections } from './sections.ts'

const addressLength = 20
const hashLength = 32
/** Length of the head of a token: owner, contract, standard, length of the key. */
const tokenHeadLength = 2 * addressLength + 2
/** Bytes of a token's group before the key of the token ids. */
const tokenGroupHeadLength = addressLength + sections.contract.groupLength + 1
const noValue = new Uint8Array(0)
const startOfAddress = (row: number) => row * addressLength

/** Rows of consecutive blocks, and the hash of the last one. */
export interface SealableRows extends RunRows {
  readonly lastHash: Uint8Array
}

/**
 * Writes a run of these blocks.
 * @param isFiltered - it gets a filter of its accounts.
 * @param put - takes its chunks, section by section, each in order.
 */
export function sealBlocks(
  chainId: number,
  number: number,
  rows: SealableRows,
  isFiltered: boolean,
  put: (chunk: Chunk) => void
): Run {
  const { firstBlock, lastBlock, lastHash, ids } = rows
  let maxIndex = 0
  for (const id of ids) maxIndex = Math.max(maxIndex, id % maxTransactionsPerBlock)
  const coding: IdCoding = { firstBlock, indexBits: bitsFor(maxIndex) }
  const writer = (section: Section) => new SectionWriter(section, chainId, number, coding, put)
  const addresses = sealAddresses(writer(sections.address), rows)
  const hashes = sealHashes(writer(sections.hash), rows)
  const contracts = sealContracts(writer(sections.contract), rows)
  const { filter } = addresses
  const summaries = [
    addresses.summary,
    hashes,
    sealTokens(writer(sections.token), rows, contracts.numbers, filter),
    contracts.summary,
    sealEvents(writer(sections.event), rows),
    sealFilter(chainId, number, isFiltered ? filter : undefined, put)
  ]
  return { ...coding, number, lastBlock, lastHash, transactions: ids.length, sections: summaries }
}

function sealAddresses(writer: SectionWriter, { partyAddresses, partyIds, partyRoles }: RunRows) {
  const accounts: number[] = []
  for (const row of orderByBytes(partyAddresses, partyIds.length, startOfAddress, () => addressLength)) {
    const at = startOfAddress(row)
    const last = accounts.at(-1)
    if (last === undefined || compareBytes(partyAddresses, last, at, addressLength) !== 0) accounts.push(at)
    writer.add(partyAddresses, at, addressLength, partyIds[row] ?? 0, partyRoles, row, 1)
  }
  const filter = Filter.forAccounts(accounts.length)
  for (const at of accounts) filter.add(partyAddresses, at)
  return { filter, summary: writer.finish() }
}

function sealHashes(writer: SectionWriter, { hashes, ids }: RunRows) {
  const { groupLength } = sections.hash
  const start = (row: number) => row * hashLength
  for (const row of orderByBytes(hashes, ids.length, start, () => groupLength)) {
    writer.add(hashes, start(row), groupLength, ids[row] ?? 0, noValue, 0, 0)
  }
  return writer.finish()
}

/** Writes the contracts of the tokens in the order of their addresses. @returns the number of the contract of each candidate, too. */
function sealContracts(writer: SectionWriter, { candidates, candidateEnds, firstBlock }: RunRows) {
  const contractOf = (row: number) => (candidateEnds[row - 1] ?? 0) + addressLength
  const numbers = new Uint32Array(candidateEnds.length)
  const group = Buffer.allocUnsafe(sections.contract.groupLength)
  const id = firstTransactionId(firstBlock)
  let number = -1
  let last = -1
  for (const row of orderByBytes(candidates, candidateEnds.length, contractOf, () => addressLength)) {
    const at = contractOf(row)
    if (last < 0 || compareBytes(candidates, last, at, addressLength) !== 0) {
      group.writeUInt32BE(++number)
      writer.add(group, 0, group.length, id, candidates, at, addressLength)
    }
    last = at
    numbers[row] = number
  }
  return { numbers, summary: writer.finish() }
}

/** Makes the groups of the token section: candidates with the numbers of their contracts. */
function tokenGroups({ candidates, candidateEnds }: RunRows, numbers: Uint32Array) {
  const ends = new Uint32Array(candidateEnds.length)
  const groups = Buffer.allocUnsafe(candidates.length)
  let [start, length] = [0, 0]
  for (const [row, end] of candidateEnds.entries()) {
    for (let i = 0; i < addressLength; i++) groups[length + i] = candidates[start + i] ?? 0
    groups.writeUInt32BE(numbers[row] ?? 0, length + addressLength)
    groups[length + tokenGroupHeadLength - 1] = candidates[start + 2 * addressLength] ?? 0
    length += tokenGroupHeadLength
    for (let at = start + tokenHeadLength; at < end; at++) groups[length++] = candidates[at] ?? 0
    ends[row] = length
    start = end
  }
  return { groups, ends }
}

/** Writes tokens by the numbers of their contracts. An owner may be no party: the filter gets it, too. */
function sealTokens(writer: SectionWriter, rows: RunRows, numbers: Uint32Array, filter: Filter) {
  const { candidateIds, candidateRoles } = rows
  const { groups, ends } = tokenGroups(rows, numbers)
  const start = (row: number) => ends[row - 1] ?? 0
  const length = (row: number) => (ends[row] ?? 0) - start(row)
  const isSame = (a: number, b: number) =>
    candidateIds[a] === candidateIds[b] &&
    length(a) === length(b) &&
    compareBytes(groups, start(a), start(b), length(a)) === 0
  const order = orderByBytes(groups, ends.length, start, length)
  const value = new Uint8Array(1)
  let owner = -1
  for (let rank = 0; rank < order.length; rank++) {
    const row = order[rank] ?? 0
    value[0] = (value[0] ?? 0) | (candidateRoles[row] ?? 0)
    // A transaction may move one token to and from an account.
    const next = order[rank + 1]
    if (next !== undefined && isSame(row, next)) continue
    const at = start(row)
    if (owner < 0 || compareBytes(groups, owner, at, addressLength) !== 0) filter.add(groups, at)
    owner = at
    writer.add(groups, at, length(row), candidateIds[row] ?? 0, value, 0, 1)
    value[0] = 0
  }
  return writer.finish()
}

function sealEvents(writer: SectionWriter, { eventAddresses, eventBlocks }: RunRows) {
  for (const row of orderByBytes(eventAddresses, eventBlocks.length, startOfAddress, () => addressLength)) {
    const id = firstTransactionId(eventBlocks[row] ?? 0)
    writer.add(eventAddresses, startOfAddress(row), addressLength, id, noValue, 0, 0)
  }
  return writer.finish()
}
