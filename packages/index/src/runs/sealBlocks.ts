import type { RunRows } from '../record/deriveRows.ts'
import { maxTransactionsPerBlock } from '../record/transactionId.ts'
import type { Chunk } from './chunk.ts'
import { Filter } from './Filter.ts'
import { sealFilter } from './filters.ts'
import { bitsFor, type IdCoding } from './keys.ts'
import { compareBytes, orderByBytes } from './orderByBytes.ts'
import type { Run } from './run.ts'
import { SectionWriter } from './SectionWriter.ts'
import { sections } from './sections.ts'

const addressLength = 20
const hashLength = 32
/** Length of the head of a token: owner, contract, standard, length of the key. */
const tokenHeadLength = 2 * addressLength + 2
/** Bytes of a token's group before the key of the token ids. */
const tokenGroupHeadLength = addressLength + sections.contract.groupLength + 1
const noValue = new Uint8Array(0)

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
  const writer = (section: (typeof sections)[keyof typeof sections]) =>
    new SectionWriter(section, chainId, number, coding, put)
  const { filter, summary } = sealAddresses(writer(sections.address), rows)
  const summaries = [
    summary,
    sealHashes(writer(sections.hash), rows),
    ...sealTokens(writer(sections.token), writer(sections.contract), rows, filter),
    sealEvents(writer(sections.event), rows),
    sealFilter(chainId, number, isFiltered ? filter : undefined, put)
  ]
  return { ...coding, number, lastBlock, lastHash, transactions: ids.length, sections: summaries }
}

function sealAddresses(writer: SectionWriter, { partyAddresses, partyIds, partyRoles }: RunRows) {
  const start = (row: number) => row * addressLength
  const order = orderByBytes(partyAddresses, partyIds.length, start, (a, b) =>
    compareBytes(partyAddresses, start(a), start(b), addressLength)
  )
  const accounts: number[] = []
  for (const row of order) {
    const at = start(row)
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
  const order = orderByBytes(hashes, ids.length, start, (a, b) =>
    compareBytes(hashes, start(a), start(b), groupLength)
  )
  for (const row of order) writer.add(hashes, start(row), groupLength, ids[row] ?? 0, noValue, 0, 0)
  return writer.finish()
}

/** Writes tokens, and the contracts by number. An owner may be no party: the filter gets it, too. */
function sealTokens(
  tokenWriter: SectionWriter,
  contractWriter: SectionWriter,
  rows: RunRows,
  filter: Filter
) {
  const { candidates, candidateEnds, candidateIds, candidateRoles, firstBlock } = rows
  const count = candidateIds.length
  const startOf = (row: number) => candidateEnds[row - 1] ?? 0
  const contractOf = (row: number) => startOf(row) + addressLength
  const numbers = new Uint32Array(count)
  const byContract = orderByBytes(candidates, count, contractOf, (a, b) =>
    compareBytes(candidates, contractOf(a), contractOf(b), addressLength)
  )
  const group = Buffer.allocUnsafe(sections.contract.groupLength)
  let number = -1
  let last = -1
  for (const row of byContract) {
    const at = contractOf(row)
    if (last < 0 || compareBytes(candidates, last, at, addressLength) !== 0) {
      group.writeUInt32BE(++number)
      contractWriter.add(
        group,
        0,
        group.length,
        firstBlock * maxTransactionsPerBlock,
        candidates,
        at,
        addressLength
      )
      last = at
    }
    numbers[row] = number
  }
  const groupEnds = new Uint32Array(count)
  const groups = Buffer.allocUnsafe(candidates.length)
  let length = 0
  for (let row = 0; row < count; row++) {
    const start = startOf(row)
    for (let i = 0; i < addressLength; i++) groups[length + i] = candidates[start + i] ?? 0
    groups.writeUInt32BE(numbers[row] ?? 0, length + addressLength)
    groups[length + tokenGroupHeadLength - 1] = candidates[start + 2 * addressLength] ?? 0
    length += tokenGroupHeadLength
    for (let at = start + tokenHeadLength; at < (candidateEnds[row] ?? 0); at++)
      groups[length++] = candidates[at] ?? 0
    groupEnds[row] = length
  }
  const groupStart = (row: number) => groupEnds[row - 1] ?? 0
  const compare = (a: number, b: number) =>
    groups.compare(groups, groupStart(b), groupEnds[b], groupStart(a), groupEnds[a])
  const order = orderByBytes(groups, count, groupStart, compare)
  const value = new Uint8Array(1)
  let owner = -1
  for (let rank = 0; rank < count; rank++) {
    const row = order[rank] ?? 0
    value[0] = candidateRoles[row] ?? 0
    // A transaction may move one token to and from an account.
    for (; isSameToken(order[rank + 1]); rank++) value[0] |= candidateRoles[order[rank + 1] ?? 0] ?? 0
    function isSameToken(next: number | undefined): next is number {
      return next !== undefined && candidateIds[next] === candidateIds[row] && compare(row, next) === 0
    }
    const start = groupStart(row)
    if (owner < 0 || compareBytes(groups, owner, start, addressLength) !== 0) filter.add(groups, start)
    owner = start
    tokenWriter.add(groups, start, (groupEnds[row] ?? 0) - start, candidateIds[row] ?? 0, value, 0, 1)
  }
  return [tokenWriter.finish(), contractWriter.finish()]
}

function sealEvents(writer: SectionWriter, { eventAddresses, eventBlocks }: RunRows) {
  const start = (row: number) => row * addressLength
  const order = orderByBytes(eventAddresses, eventBlocks.length, start, (a, b) =>
    compareBytes(eventAddresses, start(a), start(b), addressLength)
  )
  for (const row of order) {
    const id = (eventBlocks[row] ?? 0) * maxTransactionsPerBlock
    writer.add(eventAddresses, start(row), addressLength, id, noValue, 0, 0)
  }
  return writer.finish()
}
