import { getCreateAddress } from 'ethers'
import type {
  AccessListEntry,
  Address,
  ConfirmedTransaction,
  EvmTransaction,
  Hash,
  IndexedBlock,
  IndexedTransaction
} from '../../model/evm.ts'
import {
  isAbsent,
  type RawObject,
  readAddress,
  readBytes,
  readCount,
  readHash,
  readList,
  readObject,
  readOptionalAddress,
  readOptionalQuantity
} from '../../nodes/evm/rawFields.ts'
import { eachOnce } from '../../platform/eachOnce.ts'
import { AccountEventList, addBlockEvents, addTransactionEvents, tipPerGas } from './accountEvents.ts'
import { readTransfers } from './transfers.ts'
import type { VerifiedBlock, VerifiedTransaction } from './verification/verifiedBlock.ts'

export interface NormalizedBlock {
  readonly block: IndexedBlock
  /** Logs that look like transfers and are none; see `readTransfers`. */
  readonly ignoredLogs: number
}

/** EIP-2718 types whose fields are laid down by the protocol: legacy, 2930, 1559, 4844, 7702. */
const lastKnownType = 4
const blobType = 3

/**
 * Turns a verified block into what the index keeps. What each odd shape of real chains becomes is said at the
 * function that decides it.
 * @throws {NodeContradictionError} when a field without which the record would be wrong is missing or malformed.
 */
export function normalizeBlock(verified: VerifiedBlock): NormalizedBlock {
  const { ref, parentHash, timestampSeconds, raw } = verified
  const where = `block ${ref.number}`
  const baseFee = readOptionalQuantity(raw.baseFeePerGas, where, 'baseFeePerGas')
  const events = new AccountEventList()
  let ignoredLogs = 0
  let tips = 0n
  const transactions = verified.transactions.map(each => {
    const of = `${where} transaction ${each.hash}`
    const { indexed, ignored } = normalizeConfirmed(each, verified, baseFee, of)
    const { transaction } = indexed
    ignoredLogs += ignored
    tips += transaction.gasSpent * tipPerGas(transaction.gasPrice, baseFee)
    addTransactionEvents(events, transaction, each.raw, of)
    return indexed
  })
  addBlockEvents(events, raw, tips, where)
  return {
    block: { ref, parentHash, timestampSeconds, transactions, events: events.list() },
    ignoredLogs
  }
}

/**
 * What a transaction says of itself, in the pool as in a block.
 *
 * - `type` missing: 0. Types that nobody here knows pass through with the fields they have.
 * - `nonce` missing (deposits of rollups): `fallback.nonce`, else 0.
 * - `from` missing: `fallback.from`; without either the transaction is refused.
 * - `to` missing, null, empty or `0x`: none. When the key is missing altogether, `fallback.to` is used.
 * - `input` and `data` are the same thing; neither: `0x`.
 * - `value` or `gas` missing (system transactions): 0.
 * - `accessList` counts for types from 1 on (some nodes write one for legacy transactions) and is `[]` where a
 *   protocol type leaves it out.
 * - The fee caps count for types from 2 on. Where a protocol type leaves one out, both are the one price it pays, as
 *   EIP-1559 reads a transaction that offers one price: `gasPrice`, else `fallback.gasPrice`, else 0.
 * - The blob fields count where `mayCarryBlobs`; none is made up.
 *
 * @throws {NodeContradictionError} when a field is malformed.
 */
export function normalizeTransaction(
  raw: RawObject,
  where: string,
  fallback: {
    readonly from?: unknown
    readonly to?: unknown
    readonly nonce?: unknown
    readonly gasPrice?: unknown
  } = {}
): EvmTransaction {
  const type = isAbsent(raw.type) ? 0 : readCount(raw.type, where, 'type')
  const transaction: Writable<EvmTransaction> = {
    hash: readHash(raw.hash, where, 'hash'),
    from: readAddress(isAbsent(raw.from) ? fallback.from : raw.from, where, 'from'),
    value: readOptionalQuantity(raw.value, where, 'value') ?? 0n,
    data: readBytes(isAbsent(raw.input) ? raw.data : raw.input, where, 'input'),
    gasLimit: readOptionalQuantity(raw.gas, where, 'gas') ?? 0n,
    nonce: readOptionalQuantity(isAbsent(raw.nonce) ? fallback.nonce : raw.nonce, where, 'nonce') ?? 0n,
    type
  }
  const to = readOptionalAddress(raw.to === undefined ? fallback.to : raw.to, where, 'to')
  if (to !== undefined) transaction.to = to
  const accessList = type >= 1 ? readAccessList(raw.accessList, type, where) : undefined
  if (accessList !== undefined) transaction.accessList = accessList
  if (type >= 2) {
    const gasPrice = isAbsent(raw.gasPrice) ? fallback.gasPrice : raw.gasPrice
    for (const cap of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
      const named = readOptionalQuantity(raw[cap], where, cap)
      if (named !== undefined) transaction[cap] = named
      else if (type <= lastKnownType) {
        transaction[cap] = readOptionalQuantity(gasPrice, where, 'gasPrice') ?? 0n
      }
    }
  }
  if (mayCarryBlobs(type)) addBlobFields(transaction, raw, where)
  return transaction
}

/** Protocol types other than 3 carry no blobs; of types that nobody here knows it is not known. */
function mayCarryBlobs(type: number): boolean {
  return type === blobType || type > lastKnownType
}

function addBlobFields(transaction: Writable<EvmTransaction>, raw: RawObject, where: string): void {
  const cap = readOptionalQuantity(raw.maxFeePerBlobGas, where, 'maxFeePerBlobGas')
  if (cap !== undefined) transaction.maxFeePerBlobGas = cap
  const name = 'blobVersionedHashes'
  if (isAbsent(raw[name])) return
  transaction[name] = readList(raw[name], where, name).map(hash => readHash(hash, where, name))
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

function normalizeConfirmed(
  { index, raw, receipt }: VerifiedTransaction,
  block: VerifiedBlock,
  baseFee: bigint | undefined,
  where: string
): { indexed: IndexedTransaction; ignored: number } {
  const common = normalizeTransaction(raw, where, {
    from: receipt.from,
    to: receipt.to,
    nonce: receipt.depositNonce,
    gasPrice: receipt.effectiveGasPrice
  })
  const status = readStatus(receipt, where)
  const gasPrice = readGasPrice(common, raw, receipt, baseFee, where)
  const gasSpent = readOptionalQuantity(receipt.gasUsed, where, 'gasUsed') ?? 0n
  const transaction: Writable<ConfirmedTransaction> = {
    ...common,
    blockNumber: block.ref.number,
    index,
    timestampSeconds: block.timestampSeconds,
    status,
    gasPrice,
    gasSpent,
    feeWei: gasSpent * gasPrice + readExtraFees(common.type, receipt, where)
  }
  const created = status === 3 ? readCreated(common, receipt, where) : undefined
  if (created !== undefined) transaction.contractAddress = created
  // A failed transaction has undone whatever it logged; a node that lists such logs is not followed.
  const { parties, candidates, transfers, ignored } = readTransfers(status === 3 ? receipt.logs : [])
  const all = [common.from]
  if (common.to !== undefined) all.push(common.to)
  if (created !== undefined) all.push(created)
  all.push(...parties)
  return { indexed: { transaction, parties: eachOnce(all), candidates, transfers }, ignored }
}

/**
 * 3 for success, 4 for failure. A status of 1 is success (EIP-658) and any other number failure: IoTeX writes its own
 * code of what went wrong.
 *
 * Without `status` (before Byzantium; `root` may stand in its place or beside it): 3, because nothing in a receipt
 * proves a failure. Gas used up to the limit does not: a transaction may need exactly the gas it was given.
 */
function readStatus(receipt: RawObject, where: string): 3 | 4 {
  if (receipt.status === '0x1') return 3
  const status = readOptionalQuantity(receipt.status, where, 'status')
  return status === undefined || status === 1n ? 3 : 4
}

/**
 * What one gas really cost. `effectiveGasPrice` if the receipt has it (nodes before London do not); else what
 * EIP-1559 makes of the fee caps and the block's base fee; else the transaction's `gasPrice`; else 0 (system
 * transactions pay nothing).
 */
function readGasPrice(
  { maxFeePerGas, maxPriorityFeePerGas }: EvmTransaction,
  raw: RawObject,
  receipt: RawObject,
  baseFee: bigint | undefined,
  where: string
): bigint {
  const effective = readOptionalQuantity(receipt.effectiveGasPrice, where, 'effectiveGasPrice')
  if (effective !== undefined) return effective
  if (maxFeePerGas !== undefined && maxPriorityFeePerGas !== undefined && baseFee !== undefined) {
    const wanted = baseFee + maxPriorityFeePerGas
    return wanted < maxFeePerGas ? wanted : maxFeePerGas
  }
  return readOptionalQuantity(raw.gasPrice, where, 'gasPrice') ?? 0n
}

/**
 * Blob gas (EIP-4844) and the share of a rollup's data on its parent chain, where the receipt has them. On a type that
 * carries no blobs, blob gas means something else: OP chains count the size of their data there.
 */
function readExtraFees(type: number, receipt: RawObject, where: string): bigint {
  const l1Fee = readOptionalQuantity(receipt.l1Fee, where, 'l1Fee') ?? 0n
  if (!mayCarryBlobs(type)) return l1Fee
  const blobGasUsed = readOptionalQuantity(receipt.blobGasUsed, where, 'blobGasUsed') ?? 0n
  const blobGasPrice = readOptionalQuantity(receipt.blobGasPrice, where, 'blobGasPrice') ?? 0n
  return blobGasUsed * blobGasPrice + l1Fee
}

/**
 * The contract that a successful transaction created. Some nodes name one on plain calls and on failed creations too:
 * both are ignored. Where a creation's receipt leaves it out, a protocol type's address follows from sender and
 * nonce. None is made up for other types, or without any code to create one from: native transactions of some chains
 * have no receiver and create nothing.
 */
function readCreated(
  { to, from, nonce, type, data }: EvmTransaction,
  receipt: RawObject,
  where: string
): Address | undefined {
  if (to !== undefined) return undefined
  const named = readOptionalAddress(receipt.contractAddress, where, 'contractAddress')
  if (named !== undefined || type > lastKnownType || data === '0x') return named
  return getCreateAddress({ from, nonce }).toLowerCase() as Address
}

function readAccessList(value: unknown, type: number, where: string): readonly AccessListEntry[] | undefined {
  if (isAbsent(value)) return type <= lastKnownType ? [] : undefined
  return readList(value, where, 'accessList').map((entry, place) => {
    const at = `${where}: accessList[${place}]`
    const { address, storageKeys } = readObject(entry, at)
    return {
      address: readAddress(address, `${at}.address`),
      storageKeys: readList(storageKeys ?? [], `${at}.storageKeys`).map(
        (key): Hash => readHash(key, `${at}.storageKeys`)
      )
    }
  })
}
