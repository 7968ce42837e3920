import type { Address, DeepRecord } from '@chain-data/index'
import { accountEventsIn, type BlockRows, decodeDetailed } from '@chain-data/index/record'
import { recordsOf } from '../../../../evm/blocks/blockRows.ts'
import {
  nativeChange,
  nativeChangeOfEvents,
  nativeMoves,
  sumOf
} from '../../../../evm/blocks/nativeChange.ts'

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
  const { events = [] } = accountEventsIn(rows.extras).find(each => each.address === address) ?? {}
  return {
    records,
    nonces: own.map(({ nonce }) => nonce),
    hasOddNonces: own.some(({ type }) => type > lastPlainType),
    authorizations: events.flatMap(event => (event.kind === 'authorization' ? [event.nonce] : [])),
    change: sumOf(known, each => nativeChange(nativeMoves(each, address))) + nativeChangeOfEvents(events),
    isTraced: rows.isTraced
  }
}
