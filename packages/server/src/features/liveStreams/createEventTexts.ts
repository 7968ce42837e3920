import type { AccountChange, Address, BlockRef } from '@chain-data/index'
import type { IncludedPart } from '@chain-data/protocol'
import type { FormatAddress } from '../../platform/addressFormat.ts'
import { exactJson } from '../../platform/exactJson.ts'
import {
  attachedTo,
  createRecordWriter,
  toTransactionRecord
} from '../../server/methods/createRecordWriter.ts'
import type { EventTexts } from './live/EventStream.ts'

/**
 * Makes the writer of what events say. A record is written as in a history, once for all streams that show the same of it.
 *
 * @returns the texts for streams that attach these parts.
 */
export function createEventTexts(
  formatAddress: FormatAddress
): (include: readonly IncludedPart[]) => EventTexts {
  const writeRecords = createRecordWriter(formatAddress)
  const plainRecords = new WeakMap<AccountChange, string>()

  function writeRecord(change: AccountChange, address: Address, include: readonly IncludedPart[]): string {
    if (!('record' in change)) throw new Error(`a change that is ${change.kind} has no record`)
    const { record } = change
    if (record.status === 'pending') return exactJson(toTransactionRecord(record.transaction, formatAddress))
    return writeRecords(record.chunk, attachedTo(address, { include: [...include] })).toString('latin1')
  }

  function recordOf(change: AccountChange, address: Address, include: readonly IncludedPart[]): string {
    if (include.length > 0) return writeRecord(change, address, include)
    const known = plainRecords.get(change) ?? writeRecord(change, address, include)
    plainRecords.set(change, known)
    return known
  }

  return include => ({
    change(change, addresses) {
      const [first] = addresses
      const named = JSON.stringify(addresses.map(formatAddress))
      const head = `{"kind":"${change.kind}","addresses":${named}`
      if (change.kind === 'removed') {
        const { hash, reason, replacedBy } = change
        const other = replacedBy === undefined ? '' : `,"replacedBy":"${replacedBy}"`
        return `${head},"hash":"${hash}","reason":"${reason}"${other}}`
      }
      if (change.kind === 'final')
        return `${head},"hash":"${change.hash}","block":${blockText(change.block)}}`
      const block =
        'block' in change && change.block !== undefined ? `,"block":${blockText(change.block)}` : ''
      return `${head},"record":${recordOf(change, first as Address, include)}${block}}`
    },
    synced: (head, finalized) =>
      `{"kind":"synced","head":${blockText(head)}${finalized === undefined ? '' : `,"finalized":${finalized}`}}`
  })
}

function blockText({ number, hash }: BlockRef): string {
  return `{"blockNumber":${number},"blockHash":"${hash}"}`
}
