import type {
  AccountEvent,
  Address,
  ConfirmedTransaction,
  IndexedBlock,
  IndexedTransaction
} from '@chain-data/index'
import { decodeDetailed, firstTransactionId, toPosition } from '@chain-data/index/record'
import { type KnownTransaction, sumOf } from '../../../evm/blocks/nativeChange.ts'
import { creationsIn } from './changes.ts'
import type { CertificateFinding } from './Findings.ts'
import type { AuditedRows } from './joinOlder.ts'

/** The comparison of a block of the chain with what the index has of an account in it. */
export interface Examination {
  /** The block as the node gives it now; absent where no node does. */
  readonly block?: IndexedBlock
  /** Differences between index and chain; empty when the index has everything the block has. */
  readonly missing: readonly CertificateFinding[]
  /** The calls inside its transactions are known, to the index as well. */
  readonly isTraced: boolean
}

/** The parts of a block that an index keeps besides its transactions. */
export interface KnownOfBlock {
  readonly isTraced: boolean
  /** Events are kept. */
  readonly isDetailed: boolean
}

/** The entries that the index has of an account in one block. */
export interface IndexedPart {
  readonly transactions: ReadonlyMap<number, KnownTransaction>
  /** Indexes of transactions that the address index names and that have no record. */
  readonly unread: ReadonlySet<number>
  readonly events: readonly AccountEvent[]
}

/**
 * Finds everything that a block of the chain has of an account and the index does not have, and the reverse.
 *
 * @param known - what the index has of this block: what it does not keep is unknown, not missing.
 * @remarks One pass over the history down to the block.
 */
export async function examineBlock(
  snapshot: AuditedRows,
  account: Address,
  block: IndexedBlock,
  known: KnownOfBlock
): Promise<Examination> {
  const indexed = await readIndexed(snapshot, account, block.ref.number)
  return {
    block,
    missing: compareBlock(block, indexed, account, known),
    isTraced: known.isTraced && block.isTraced === true
  }
}

/** Compares a block of the chain with what the index has of an account in it. */
export function compareBlock(
  block: IndexedBlock,
  indexed: IndexedPart,
  account: Address,
  known: KnownOfBlock
): readonly CertificateFinding[] {
  const transactions = block.transactions.filter(transaction => isParty(transaction, account, block, known))
  return [
    ...transactions.flatMap(transaction => compareTransaction(transaction, indexed, account)),
    ...compareEvents(block, indexed, account, known),
    ...findSurplus(block, indexed, account, known)
  ]
}

/**
 * Reports whether the index must have a transaction. It need not where only something makes the account a party that it does not
 * know of this block: an internal transfer in an untraced block; an authorization that could not be checked when the block was read
 * again.
 */
function isParty(
  { transaction, parties, transfers = [], internal = [], operations = [] }: IndexedTransaction,
  account: Address,
  { hasUncheckedAuthorities = false }: IndexedBlock,
  { isTraced }: KnownOfBlock
): boolean {
  if (!parties.includes(account)) return false
  const { from, to, contractAddress } = transaction
  if ([from, to, contractAddress].includes(account)) return true
  const names = (moved: { readonly from: Address; readonly to: Address }) =>
    moved.from === account || moved.to === account
  if (transfers.some(moved => !moved.isWrapping && names(moved))) return true
  if (operations.some(({ sender }) => sender === account)) return true
  if (internal.some(names)) return isTraced
  return !hasUncheckedAuthorities
}

export function eventsOf({ events = [] }: IndexedBlock, account: Address): readonly AccountEvent[] {
  return events.filter(({ address }) => address === account).flatMap(entry => entry.events)
}

function missingTransaction({ transaction }: IndexedTransaction, account: Address): CertificateFinding {
  const { hash, blockNumber, index, from, nonce } = transaction
  const isSender = from === account
  return {
    kind: 'MISSING_TRANSACTION',
    message: `The history lacks transaction ${index} of block ${blockNumber}${isSender ? ', which this account sent' : ''}.`,
    ...{ blockNumber, transactionIndex: index, transactionHash: hash },
    ...(isSender && { nonce })
  }
}

async function readIndexed(snapshot: AuditedRows, account: Address, height: number): Promise<IndexedPart> {
  const transactions = new Map<number, KnownTransaction>()
  const unread = new Set<number>()
  const first = firstTransactionId(height)
  for await (const chunk of snapshot.auditedRecords(account)) {
    for (const { part, position } of chunk.missing) {
      if (part === 'record' && position.blockNumber === height) unread.add(position.index)
    }
    const ids = chunk.ids
    if (ids.some(id => toPosition(id).blockNumber === height)) {
      for (const { transaction, details } of decodeDetailed(chunk)) {
        if (transaction.blockNumber === height)
          transactions.set(transaction.index, { transaction, ...details })
      }
    }
    const oldest = ids.at(-1)
    if (oldest !== undefined && oldest < first) break
  }
  const events: AccountEvent[] = []
  for await (const blocks of snapshot.accountEvents(account)) {
    for (const found of blocks) if (found.blockNumber === height) events.push(...found.events)
    if ((blocks.at(-1)?.blockNumber ?? 0) > height) break
  }
  return { transactions, unread, events }
}

function compareTransaction(
  actual: IndexedTransaction,
  { transactions, unread }: IndexedPart,
  account: Address
): readonly CertificateFinding[] {
  const { hash, blockNumber, index } = actual.transaction
  const position = { blockNumber, transactionIndex: index, transactionHash: hash }
  if (unread.has(index)) {
    return [{ kind: 'MISSING_RECORD', message: missingRecordMessage(blockNumber, index), ...position }]
  }
  const indexed = transactions.get(index)
  if (indexed === undefined) return [missingTransaction(actual, account)]
  if (isSame(indexed, actual)) return []
  return [
    {
      kind: 'WRONG_RECORD',
      message: `The record of transaction ${index} of block ${blockNumber} contradicts the chain.`,
      ...position
    }
  ]
}

export function missingRecordMessage(blockNumber: number, index: number): string {
  return `The index names transaction ${index} of block ${blockNumber} and has no record of it.`
}

/** Internal transfers are compared where both know them; what a receipt shows, where the index knows the receipt. */
function isSame(indexed: KnownTransaction, actual: IndexedTransaction): boolean {
  if (indexed.transaction.status === undefined) {
    const known = Object.keys(indexed.transaction) as (keyof ConfirmedTransaction)[]
    return known.every(name => asText(indexed.transaction[name]) === asText(actual.transaction[name]))
  }
  const isInternalKnown = indexed.internal !== undefined && actual.internal !== undefined
  return (
    isSameTransaction(indexed.transaction, actual.transaction) &&
    asText(indexed.transfers) === asText(actual.transfers ?? []) &&
    asText(indexed.operations) === asText(actual.operations ?? []) &&
    (!isInternalKnown || asText(indexed.internal) === asText(actual.internal))
  )
}

function isSameTransaction(indexed: ConfirmedTransaction, actual: ConfirmedTransaction): boolean {
  const [ofIndex, ofChain] = [indexed, actual].map(
    transaction => new Map(Object.entries(transaction).filter(([, value]) => value !== undefined))
  )
  const names = new Set([...(ofIndex?.keys() ?? []), ...(ofChain?.keys() ?? [])])
  return [...names].every(name => asText(ofIndex?.get(name)) === asText(ofChain?.get(name)))
}

function asText(value: unknown): string {
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part))
}

/** The amounts that events of one kind add up to, and their names in messages. */
const measures: readonly {
  readonly name: string
  /** Only traces show it. */
  readonly isTraced: boolean
  read(events: readonly AccountEvent[]): bigint
}[] = [
  { name: 'wei of withdrawals', isTraced: false, read: amountOf('withdrawal') },
  { name: 'wei of tips', isTraced: false, read: amountOf('tip') },
  { name: 'wei of rewards', isTraced: true, read: amountOf('reward') },
  { name: 'wei of minted deposits', isTraced: false, read: amountOf('mint') },
  { name: 'wei of what was burned', isTraced: true, read: amountOf('burn') },
  { name: 'contracts that the account created', isTraced: true, read: creationsIn }
]

function amountOf(kind: AccountEvent['kind']) {
  return (events: readonly AccountEvent[]) =>
    sumOf(events, event => (event.kind === kind && 'amount' in event ? event.amount : 0n))
}

/** Compares what was kept of the events in both directions. What a block without traces shows is no measure for the index. */
function compareEvents(
  block: IndexedBlock,
  indexed: IndexedPart,
  account: Address,
  { isTraced, isDetailed }: KnownOfBlock
): readonly CertificateFinding[] {
  const blockNumber = block.ref.number
  const ofChain = eventsOf(block, account)
  const found: CertificateFinding[] = []
  for (const measure of measures) {
    const lacking = measure.read(ofChain) - measure.read(indexed.events)
    const isKept = isDetailed && (isTraced || !measure.isTraced)
    const isSeen = !measure.isTraced || isSeenAgain(block, isTraced)
    if (lacking > 0n && isKept) {
      const message = `The index lacks ${lacking} ${measure.name} in block ${blockNumber}.`
      found.push({ kind: 'MISSING_EVENT', message, blockNumber })
    }
    if (lacking < 0n && isSeen) {
      const message = `The index has ${-lacking} ${measure.name} in block ${blockNumber} that the chain does not have.`
      found.push({ kind: 'WRONG_RECORD', message, blockNumber })
    }
  }
  const known = new Set(indexed.events.flatMap(noncesIn))
  for (const nonce of isDetailed ? ofChain.flatMap(noncesIn) : []) {
    if (known.has(nonce)) continue
    const message = `The index lacks an authorization that the account signed, in block ${blockNumber}.`
    found.push({ kind: 'MISSING_EVENT', message, blockNumber, nonce })
  }
  return found
}

function noncesIn(event: AccountEvent): readonly bigint[] {
  return event.kind === 'authorization' ? [event.nonce] : []
}

/** Reports whether the block shows as much as the index has of it: it may not have been traced again. */
function isSeenAgain(block: IndexedBlock, isTraced: boolean): boolean {
  return block.isTraced === true || !isTraced
}

function mayCarryAuthorization(
  { transaction }: IndexedTransaction,
  block: IndexedBlock,
  account: Address
): boolean {
  return transaction.type === 4 && eventsOf(block, account).some(({ kind }) => kind === 'authorization')
}

/** Finds transactions that the index has of the account and the chain does not. */
function findSurplus(
  block: IndexedBlock,
  { transactions }: IndexedPart,
  account: Address,
  { isTraced }: KnownOfBlock
): readonly CertificateFinding[] {
  const blockNumber = block.ref.number
  const indexes = isSeenAgain(block, isTraced) ? [...transactions.keys()] : []
  return indexes.flatMap(index => {
    const actual = block.transactions.find(({ transaction }) => transaction.index === index)
    if (actual?.parties.includes(account)) return []
    // An authorization that could not be checked when the block was indexed counts there, and may not have been valid.
    if (actual !== undefined && mayCarryAuthorization(actual, block, account)) return []
    const message = `The history has transaction ${index} of block ${blockNumber}, which has nothing to do with this account.`
    return [{ kind: 'WRONG_RECORD', message, blockNumber, transactionIndex: index }]
  })
}
