import {
  type ConfirmedTransaction,
  isConfirmed,
  type TokenTransfer,
  type TransactionRecord
} from '@chain-data/client/fetch'

/** What a transaction was for the account that is looked at. `involved`: it is not known how. */
export type Deed =
  | 'sent'
  | 'received'
  | 'exchanged'
  | 'self'
  | 'called'
  | 'created'
  | 'wasCreated'
  | 'involved'

/** Native currency or a token that moved, from the account's view. */
export interface Move {
  /** `self`: from the account to itself. */
  readonly direction: 'in' | 'out' | 'self'
  /** Base units; of ERC-721 how many. */
  readonly amount: bigint
  /** The other side; absent where it was minted or burned. */
  readonly partner?: string
  /** Absent: the native currency. */
  readonly token?: {
    readonly address: string
    readonly standard: TokenTransfer['standard']
    readonly id?: string
    readonly lastId?: string
  }
  /** A contract made it, within the transaction. */
  readonly isInternal?: true
}

/** A transaction in the terms of a row. */
export interface Description {
  readonly deed: Deed
  /** Who paid, was paid or was called. */
  readonly counterparty?: string
  /** What moved from or to the account; of a failed transaction, what was meant to. */
  readonly moves: readonly Move[]
  /** What the account paid for it; absent while pending, where it is unknown, and where somebody else did. */
  readonly feeWei?: bigint
}

const nobody = `0x${'0'.repeat(40)}`

/** What a record says from the view of an account. @param account - In any case, as all addresses. */
export function describeRecord(record: TransactionRecord, account: string): Description {
  const moves = movesOf(record, account)
  const deed = deedOf(record, account, moves)
  const counterparty = counterpartyOf(record, account, deed, moves)
  return {
    ...{ deed, moves },
    ...(counterparty === undefined ? {} : { counterparty }),
    ...(isConfirmed(record) && same(record.from, account) && record.fees !== undefined
      ? { feeWei: BigInt(record.fees) }
      : {})
  }
}

function deedOf(record: TransactionRecord, account: string, moves: readonly Move[]): Deed {
  const isSender = same(record.from, account)
  if (record.to === undefined && isSender) return 'created'
  if (isConfirmed(record) && same(record.contractAddress, account)) return 'wasCreated'
  const comes = moves.some(({ direction }) => direction === 'in')
  const goes = moves.some(({ direction }) => direction === 'out')
  if (comes && goes) return 'exchanged'
  if (comes) return 'received'
  const paysAlone = goes && moves.every(({ token }) => token === undefined)
  if (isSender && same(record.to, account)) return 'self'
  // Value that goes along with a call is part of the call.
  if (isSender && record.data !== '0x' && (paysAlone || !goes)) return 'called'
  if (goes || isSender) return 'sent'
  // Transfers of tokens are not known of every block.
  return same(record.to, account) ? 'received' : 'involved'
}

function counterpartyOf(
  record: TransactionRecord,
  account: string,
  deed: Deed,
  moves: readonly Move[]
): string | undefined {
  if (deed === 'created') return isConfirmed(record) ? record.contractAddress : undefined
  if (deed === 'self') return undefined
  if (deed === 'called' || deed === 'exchanged') return record.to
  const partner = moves.find(({ direction }) => direction !== 'self')
  if (partner !== undefined && deed !== 'wasCreated') return partner.partner
  return same(record.from, account) ? record.to : record.from
}

function movesOf(record: TransactionRecord, account: string): readonly Move[] {
  const created = isConfirmed(record) ? record.contractAddress : undefined
  const value = BigInt(record.value)
  const direct = value === 0n ? [] : moveOf(account, record.from, record.to ?? created, value)
  if (!isConfirmed(record)) return direct
  const internal = (record.internal ?? []).flatMap(each =>
    moveOf(account, each.from, each.to, BigInt(each.value), { isInternal: true })
  )
  return [...tokenMoves(record, account), ...direct, ...internal]
}

function tokenMoves({ transfers = [] }: ConfirmedTransaction, account: string): readonly Move[] {
  return transfers.flatMap(transfer => {
    const { address, standard, tokenId, lastTokenId } = transfer
    const token = {
      ...{ address, standard },
      ...(tokenId === undefined ? {} : { id: tokenId }),
      ...(lastTokenId === undefined ? {} : { lastId: lastTokenId })
    }
    return moveOf(account, transfer.from, transfer.to, countOf(transfer), { token })
  })
}

function countOf({ amount, tokenId, lastTokenId }: TokenTransfer): bigint {
  if (amount !== undefined) return BigInt(amount)
  return tokenId === undefined || lastTokenId === undefined ? 1n : BigInt(lastTokenId) - BigInt(tokenId) + 1n
}

/** @returns One move, or none for what has nothing to do with the account. */
function moveOf(
  account: string,
  from: string,
  to: string | undefined,
  amount: bigint,
  more: Pick<Move, 'token' | 'isInternal'> = {}
): readonly Move[] {
  const comes = same(to, account)
  const goes = same(from, account)
  if (!comes && !goes) return []
  if (comes && goes) return [{ direction: 'self', amount, ...more }]
  const other = comes ? from : to
  const partner = other === undefined || other === nobody ? {} : { partner: other }
  return [{ direction: comes ? 'in' : 'out', amount, ...partner, ...more }]
}

function same(one: string | undefined, other: string): boolean {
  return one !== undefined && one.toLowerCase() === other.toLowerCase()
}
