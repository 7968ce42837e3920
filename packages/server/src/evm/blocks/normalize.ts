import type {
  AccessListEntry,
  Address,
  ConfirmedTransaction,
  EvmTransaction,
  Hash,
  IndexedBlock,
  IndexedTransaction
} from '@chain-data/index'
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
import { type BlockAuthorizations, findAuthorities } from './authorizations.ts'
import { readLogs } from './readLogs.ts'
import { createdAddress } from './roots/createdAddress.ts'
import { aboutReceipt } from './verification/contradiction.ts'
import type { VerifiedBlock, VerifiedTransaction } from './verification/verifiedBlock.ts'

export interface NormalizedBlock {
  readonly block: IndexedBlock
  /** Logs that look like transfers or operations and are none; see `readLogs`. */
  readonly ignoredLogs: number
}

/** Newest EIP-2718 type whose fields the protocol defines: legacy, 2930, 1559, 4844, 7702. */
const lastKnownType = 4
const blobType = 3

/**
 * Turns a verified block into the records of the index. Each function below documents the odd shapes of real chains that it
 * handles.
 * @param authorizations - of the block; absent: it has no transactions.
 * @throws {NodeContradictionError} when a required field is missing or malformed.
 */
export function normalizeBlock(
  verified: VerifiedBlock,
  authorizations: BlockAuthorizations = { signed: new Map() }
): NormalizedBlock {
  const { ref, parentHash, timestampSeconds, raw, unknown } = verified
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
    const { gasSpent, gasPrice } = transaction
    if (gasSpent !== undefined && gasPrice !== undefined) tips += gasSpent * tipPerGas(gasPrice, baseFee)
    addTransactionEvents(events, transaction, each.raw, authorizations.signed, of)
    return indexed
  })
  addBlockEvents(events, raw, tips, where)
  const block = { ref, parentHash, timestampSeconds, transactions, events: events.list(), unknown }
  return {
    block: authorizations.signed.size === 0 ? block : withAuthorities(block, authorizations),
    ignoredLogs
  }
}

/** Adds the authorities of valid authorizations to the parties, also where the transaction failed: they stay in effect. */
function withAuthorities(block: IndexedBlock, authorizations: BlockAuthorizations): IndexedBlock {
  const { authorities, isUnchecked } = findAuthorities(
    block.transactions.map(({ transaction }) => transaction),
    authorizations
  )
  const transactions = block.transactions.map(each => {
    const added = authorities.get(each.transaction.hash)
    return added === undefined ? each : { ...each, parties: eachOnce([...each.parties, ...added]) }
  })
  return { ...block, transactions, hasUncheckedAuthorities: isUnchecked }
}

/**
 * Reads the fields of a transaction, in the pool or in a block.
 *
 * - `type` missing: 0. Unknown types pass through with the fields they have.
 * - `nonce` missing (deposits of rollups): `fallback.nonce`, else 0.
 * - `from` missing: `fallback.from`; without either the transaction is refused.
 * - `to` missing, null, empty or `0x`: none. When the key is missing altogether, `fallback.to` is used.
 * - `input` and `data` are two names of one field; neither: `0x`.
 * - `value` or `gas` missing (system transactions): 0.
 * - `accessList` counts for types from 1 on (some nodes write one for legacy transactions) and is `[]` where a
 *   protocol type leaves it out.
 * - The fee caps count for types from 2 on. Where a protocol type leaves one out, it is the price that the transaction
 *   offers (EIP-1559): `gasPrice`, else `fallback.gasPrice`, else 0.
 * - The blob fields count where `mayCarryBlobs`; a missing one stays absent.
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

/** Reports whether a type may carry blobs: of the protocol's types only 3 does; an unknown type may. */
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
  { hash, index, raw, receipt }: VerifiedTransaction,
  block: VerifiedBlock,
  baseFee: bigint | undefined,
  where: string
): { indexed: IndexedTransaction; ignored: number } {
  const common = normalizeTransaction(raw, where, {
    from: receipt?.from,
    to: receipt?.to,
    nonce: receipt?.depositNonce,
    gasPrice: receipt?.effectiveGasPrice
  })
  const { number: blockNumber } = block.ref
  const placed = { ...common, blockNumber, index, timestampSeconds: block.timestampSeconds }
  const known = common.to === undefined ? [common.from] : [common.from, common.to]
  if (receipt === undefined) {
    return { indexed: { transaction: placed, parties: eachOnce(known), candidates: [] }, ignored: 0 }
  }
  try {
    const status = readStatus(receipt, where)
    const gasPrice = readGasPrice(common, raw, receipt, baseFee, where)
    const gasSpent = readOptionalQuantity(receipt.gasUsed, where, 'gasUsed') ?? 0n
    const feeWei = gasSpent * gasPrice + readExtraFees(common.type, receipt, where)
    const transaction: Writable<ConfirmedTransaction> = { ...placed, status, gasPrice, gasSpent, feeWei }
    const created = status === 3 ? readCreated(common, receipt, where) : undefined
    if (created !== undefined) transaction.contractAddress = created
    // Also those of a failed transaction: chains on which it undoes its logs list none, others log fees there.
    const { parties, ignored, ...logged } = readLogs(receipt.logs)
    if (created !== undefined) known.push(created)
    return { indexed: { transaction, parties: eachOnce([...known, ...parties]), ...logged }, ignored }
  } catch (error) {
    throw aboutReceipt(error, hash)
  }
}

/**
 * Reads the status: 3 for success, 4 for failure. 1 is success (EIP-658); any other number is failure, since IoTeX writes
 * error codes of its own.
 *
 * Without `status` (before Byzantium, with or without `root`): 3, because nothing in such a receipt proves a failure. Gas
 * used up to the limit does not: a transaction may need exactly the gas it was given.
 */
function readStatus(receipt: RawObject, where: string): 3 | 4 {
  if (receipt.status === '0x1') return 3
  const status = readOptionalQuantity(receipt.status, where, 'status')
  return status === undefined || status === 1n ? 3 : 4
}

/**
 * Reads the price that was paid for one gas: `effectiveGasPrice` if the receipt has it (nodes before London do not), else
 * the EIP-1559 price from the fee caps and the block's base fee, else the transaction's `gasPrice`, else 0 (system
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
 * Reads the fees besides gas, where the receipt has them: blob gas (EIP-4844) and a rollup's fee on its parent chain. On a
 * type without blobs, blob gas means something else: OP chains count the size of their data there.
 */
function readExtraFees(type: number, receipt: RawObject, where: string): bigint {
  const l1Fee = readOptionalQuantity(receipt.l1Fee, where, 'l1Fee') ?? 0n
  if (!mayCarryBlobs(type)) return l1Fee
  const blobGasUsed = readOptionalQuantity(receipt.blobGasUsed, where, 'blobGasUsed') ?? 0n
  const blobGasPrice = readOptionalQuantity(receipt.blobGasPrice, where, 'blobGasPrice') ?? 0n
  return blobGasUsed * blobGasPrice + l1Fee
}

/**
 * Reads the contract that a successful transaction created. Some nodes name one on plain calls and on failed creations too:
 * both are ignored. Where a creation's receipt leaves it out, a protocol type's address follows from sender and nonce. Other
 * types, and creations without code, get none: native transactions of some chains have no receiver and create nothing.
 */
function readCreated(
  { to, from, nonce, type, data }: EvmTransaction,
  receipt: RawObject,
  where: string
): Address | undefined {
  if (to !== undefined) return undefined
  const named = readOptionalAddress(receipt.contractAddress, where, 'contractAddress')
  if (named !== undefined || type > lastKnownType || data === '0x') return named
  return createdAddress(from, nonce)
}

function readAccessList(value: unknown, type: number, where: string): readonly AccessListEntry[] | undefined {
  if (isAbsent(value)) return type <= lastKnownType ? [] : undefined
  return readList(value, where, 'accessList').map((entry, i) => {
    const at = `${where}: accessList[${i}]`
    const { address, storageKeys } = readObject(entry, at)
    return {
      address: readAddress(address, `${at}.address`),
      storageKeys: readList(storageKeys ?? [], `${at}.storageKeys`).map(
        (key): Hash => readHash(key, `${at}.storageKeys`)
      )
    }
  })
}
