import type { HoldingCandidate, IndexedTransaction } from '../model/evm.ts'
import { StoreError } from '../platform/errors.ts'
import type { ListedRows } from './extra.ts'
import { addressLength } from './RecordParts.ts'
import { RecordRows, type RowRoles } from './RecordRows.ts'
import { RoleColumns } from './RoleColumns.ts'
import { roles } from './RunRows.ts'
import { ByteWriter } from './recordBytes.ts'
import { candidateHeadLength, standardNumber, tokenIdsKey } from './tokenKey.ts'
import { toTransactionId } from './transactionId.ts'

/**
 * Encodes the parties and candidates of transactions, with the roles that follow from their records.
 * @returns `listed` has those that do not follow from their records.
 */
export function encodeRows(transactions: readonly IndexedTransaction[], records: Buffer) {
  const parties = new RoleColumns(4 * addressLength * transactions.length)
  const candidates = new RoleColumns(2 * candidateHeadLength * transactions.length)
  const partyEnds = new Uint32Array(transactions.length)
  const derived = new RecordRows()
  const listed: ListedRows[] = []
  const writer = new ByteWriter(128)
  let at = 0
  for (const [row, each] of transactions.entries()) {
    at = derived.read(records, at)
    const ofParties = new Map<string, number>()
    for (const party of each.parties) {
      writer.fixed(party, addressLength)
      const text = writer.takeLatin1()
      ofParties.set(text, derived.parties.get(text) ?? roles.signed)
    }
    const ofCandidates = new Map<string, number>()
    for (const candidate of each.candidates) {
      writeCandidate(writer, candidate)
      const text = writer.takeLatin1()
      ofCandidates.set(text, derived.candidates.get(text) ?? roles.tokenIn)
    }
    const id = toTransactionId(each.transaction)
    parties.add(id, ofParties)
    candidates.add(id, ofCandidates)
    partyEnds[row] = parties.count
    const hasOtherParties = !haveSameKeys(ofParties, derived.parties)
    const hasOtherCandidates = !haveSameKeys(ofCandidates, derived.candidates)
    if (!hasOtherParties && !hasOtherCandidates) continue
    listed.push({
      index: each.transaction.index,
      ...(hasOtherParties && { parties: ofParties }),
      ...(hasOtherCandidates && { candidates: ofCandidates })
    })
  }
  const { bytes: partyBytes, roles: partyRoles } = parties.finish()
  const { bytes: candidateBytes, ids: candidateIds, roles: candidateRoles } = candidates.finish()
  return {
    ...{ parties: partyBytes, partyEnds, partyRoles },
    ...{ candidates: candidateBytes, candidateIds, candidateRoles },
    listed
  }
}

function haveSameKeys(one: RowRoles, other: RowRoles): boolean {
  if (one.size !== other.size) return false
  for (const key of one.keys()) if (!other.has(key)) return false
  return true
}

function writeCandidate(writer: ByteWriter, candidate: HoldingCandidate): void {
  const { owner, contract, standard, tokenId, lastTokenId } = candidate
  const isStrange =
    (tokenId === undefined) !== (standard === 'erc20') || (lastTokenId !== undefined && standard !== 'erc721')
  if (isStrange) {
    throw new StoreError(
      `a holding candidate of ${contract} has standard ${standard} and token id ${tokenId}, last ${lastTokenId}`
    )
  }
  const key = tokenIdsKey(candidate)
  writer.fixed(owner, addressLength)
  writer.fixed(contract, addressLength)
  writer.byte(standardNumber(standard))
  writer.byte(key.length)
  writer.bytes(key)
}
