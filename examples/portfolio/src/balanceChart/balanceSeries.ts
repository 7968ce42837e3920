import {
  type ConfirmedTransaction,
  type HistoryCertificate,
  isConfirmed,
  type TransactionRecord
} from '@chain-data/client/fetch'
import { blockOf } from '../timeline/ListChanges.ts'
import type { Anchor } from './Anchor.ts'

/** The native balance at the end of a block in which it may have changed. */
export interface BalancePoint {
  readonly blockNumber: number
  readonly timestampSeconds: number
  readonly balanceWei: bigint
  /** What the block has added. */
  readonly changeWei: bigint
}

/** Why older balances do not follow from the transactions that are known. */
export type Obstacle =
  /** Payments by contracts are not known of all blocks. */
  | { readonly kind: 'untraced' }
  /** The account got, or lost, currency without any transaction. */
  | { readonly kind: 'unlisted'; readonly parts: readonly UnlistedPart[] }
  /** The sum does not meet a balance that is known. */
  | { readonly kind: 'contradiction' }

/** A part of a balance that no transaction of the account shows. */
export type UnlistedPart = 'withdrawals' | 'rewards' | 'tips' | 'minted' | 'burned'

/** What is known of the balance over time. */
export interface BalanceSeries {
  /** Oldest first; the last one is the anchor. */
  readonly points: readonly BalancePoint[]
  /** Balance before the first point. */
  readonly openingWei: bigint
  /** Whether the first point is that of the account's first transaction. */
  readonly isWhole: boolean
  /**
   * `proven`: the host's certificate leaves no room for anything else. `assumed`: right if nothing came to the account without
   * a transaction, such as validator withdrawals.
   */
  readonly trust: 'proven' | 'assumed'
}

/** The records that are counted back over. */
export interface KnownHistory {
  /** Newest first, without gaps. */
  readonly records: readonly TransactionRecord[]
  /** Whether the last record is the account's first. */
  readonly isComplete: boolean
  /** Absent while there is none. */
  readonly anchor?: Anchor | undefined
}

/** What is known beside the history itself. */
export interface Evidence {
  /** First block from which on payments by contracts are known of every transaction. */
  readonly internalFrom?: number | undefined
  readonly certificate?: HistoryCertificate | undefined
}

/**
 * The balance after each block with a transaction of the account, counted back from a balance that is known.
 *
 * @returns An obstacle in place of balances that would be wrong; nothing while there is no balance to count from.
 */
export function balanceSeries(
  { records, isComplete, anchor }: KnownHistory,
  account: string,
  { internalFrom, certificate }: Evidence
): BalanceSeries | Obstacle | undefined {
  if (anchor === undefined) return undefined
  const known = records
    .filter(record => isConfirmed(record))
    .filter(record => blockOf(record) <= anchor.blockNumber)
  const unlisted = certificate === undefined ? [] : unlistedParts(certificate)
  if (unlisted.length > 0) return { kind: 'unlisted', parts: unlisted }
  // A proof that everything adds up leaves no room for payments that nobody has traced.
  const isProven = certificate?.native.verdict === 'proven'
  const traced = isProven ? known : tracedPart(known, internalFrom)
  if (known.length > 0 && traced.length === 0) return { kind: 'untraced' }
  const { points, openingWei } = countBack(traced, account, anchor)
  const isWhole = isComplete && traced.length === known.length
  if (openingWei < 0n || points.some(({ balanceWei }) => balanceWei < 0n)) return { kind: 'contradiction' }
  if (certificate !== undefined && !meets(points, openingWei, certificate, isWhole)) {
    return { kind: isProven && internalFrom === undefined ? 'untraced' : 'contradiction' }
  }
  return { points, openingWei, isWhole, trust: isProven ? 'proven' : 'assumed' }
}

/** The newest records, down to the first of which payments by contracts, or its receipt, are unknown. */
function tracedPart(records: readonly ConfirmedTransaction[], internalFrom: number | undefined) {
  if (internalFrom === undefined) return []
  const end = records.findIndex(
    record => [record.internal, record.status].includes(undefined) || blockOf(record) < internalFrom
  )
  return end < 0 ? records : records.slice(0, end)
}

function countBack(records: readonly ConfirmedTransaction[], account: string, anchor: Anchor) {
  let balanceWei = anchor.balanceWei
  const points: BalancePoint[] = []
  for (let place = 0; place < records.length; ) {
    const first = records[place]
    if (first === undefined) break
    let changeWei = 0n
    for (let record = records[place]; record !== undefined && blockOf(record) === blockOf(first); ) {
      changeWei += changeOf(record, account)
      record = records[++place]
    }
    points.push({
      ...{ blockNumber: blockOf(first), timestampSeconds: first.timestamp },
      ...{ balanceWei, changeWei }
    })
    balanceWei -= changeWei
  }
  points.reverse()
  const last = points.at(-1)
  if (last === undefined || last.blockNumber < anchor.blockNumber) {
    const { blockNumber, timestampSeconds } = anchor
    points.push({ blockNumber, timestampSeconds, balanceWei: anchor.balanceWei, changeWei: 0n })
  }
  return { points, openingWei: balanceWei }
}

/** What a transaction has added to the account, below zero where it has taken. */
function changeOf(record: ConfirmedTransaction, account: string): bigint {
  const isMe = (address: string | undefined) => address?.toLowerCase() === account.toLowerCase()
  let change = 0n
  // Fees are paid for failed ones too.
  if (isMe(record.from)) change -= BigInt(record.fees ?? 0)
  if (record.status === 4) return change
  const value = BigInt(record.value)
  if (isMe(record.from)) change -= value
  if (isMe(record.to ?? record.contractAddress)) change += value
  for (const { from, to, value } of record.internal ?? []) {
    if (isMe(from)) change -= BigInt(value)
    if (isMe(to)) change += BigInt(value)
  }
  return change
}

function unlistedParts({ native: { parts } }: HistoryCertificate): UnlistedPart[] {
  const names = ['withdrawals', 'rewards', 'tips', 'minted', 'burned'] as const
  return names.filter(name => parts[name] !== 0n)
}

/** Whether the balances agree with those of a certificate, as far as they reach its block. */
function meets(
  points: readonly BalancePoint[],
  openingWei: bigint,
  { asOf, covers, native }: HistoryCertificate,
  isWhole: boolean
): boolean {
  const { balance, parts } = native
  const newest = points.at(-1)
  const before = points.findLast(({ blockNumber }) => blockNumber <= asOf.blockNumber)
  const isReached = newest !== undefined && newest.blockNumber >= asOf.blockNumber
  if (balance !== undefined && isReached && (before !== undefined || isWhole)) {
    if ((before?.balanceWei ?? openingWei) !== balance) return false
  }
  return !isWhole || covers.from > 0 || parts.opening === undefined || openingWei === parts.opening
}
