import { decodeAccountEvents } from '../../../index/record/accountEvents.ts'
import { decodeDetailed } from '../../../index/record/details.ts'
import { addressLength, type BlockRows } from '../../../index/record/encodeBlock.ts'
import { addressBytes } from '../../../index/record/hexBytes.ts'
import type { DeepRecord } from '../../../model/deepHistory.ts'
import type { AccountEvent, Address } from '../../../model/evm.ts'
import { nativeChange, nativeChangeOfEvents, nativeMoves, sumOf } from '../../blocks/nativeChange.ts'
import { recordsOf } from '../search/recordsOf.ts'

/** What one block says that it did to an account. */
export interface BlockEffect {
  /** The account's transactions in this block; it has no others. */
  readonly records: readonly DeepRecord[]
  /** Nonces of the transactions that the account sent. */
  readonly nonces: readonly bigint[]
  /** Some of them are of a type whose nonces follow rules of the chain: only their number counts. */
  readonly hasOddNonces: boolean
  /** Nonces of the authorizations that it signed, valid or not. */
  readonly authorizations: readonly bigint[]
  /** The change of its balance in wei; without traces, contracts may have paid it more. */
  readonly change: bigint
  readonly isTraced: boolean
}

/** Types up to EIP-7702's use up the nonce that they name. */
const lastPlainType = 4

/** Reads what a block did to an account. */
export function explainBlock(rows: BlockRows, address: Address): BlockEffect {
  const records = recordsOf(rows, address)
  const known = decodeDetailed({
    ids: records.map(({ id }) => id),
    bytes: Buffer.concat(records.map(({ bytes }) => bytes))
  }).map(({ transaction, details }) => ({ transaction, ...details }))
  const own = known.map(({ transaction }) => transaction).filter(({ from }) => from === address)
  const events = eventsOf(rows, address)
  return {
    records,
    nonces: own.map(({ nonce }) => nonce),
    hasOddNonces: own.some(({ type }) => type > lastPlainType),
    authorizations: events.flatMap(event => (event.kind === 'authorization' ? [event.nonce] : [])),
    change: sumOf(known, each => nativeChange(nativeMoves(each, address))) + nativeChangeOfEvents(events),
    isTraced: rows.isTraced
  }
}

function eventsOf(
  { eventAddresses, events, eventEnds }: BlockRows,
  address: Address
): readonly AccountEvent[] {
  const wanted = addressBytes(address)
  for (const [position, end] of eventEnds.entries()) {
    const start = position * addressLength
    if (wanted.equals(eventAddresses.subarray(start, start + addressLength)))
      return decodeAccountEvents(events.subarray(eventEnds[position - 1] ?? 0, end))
  }
  return []
}
