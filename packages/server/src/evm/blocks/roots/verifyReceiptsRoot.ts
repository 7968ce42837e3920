import {
  isAbsent,
  type RawObject,
  readAddress,
  readHash,
  readList,
  readOptionalAddress,
  readQuantity
} from '../../../nodes/evm/rawFields.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'
import type { VerifiedBlock, VerifiedTransaction } from '../verification/verifiedBlock.ts'
import { createdAddress } from './createdAddress.ts'
import { encodeReceipt } from './encodeTransaction.ts'
import { expectRoot } from './expectRoot.ts'
import { readReceiver } from './tempoTransaction.ts'
import { arbitrumInternalType, depositType, readType, stableType, tempoType } from './transactionTypes.ts'

/** The last type that is part of Ethereum's own protocol. */
const lastOwnType = 4
const blobType = 3
/** Types whose price follows from the base fee and their caps (EIP-1559). */
const feeMarketTypes: ReadonlySet<number> = new Set([2, blobType, lastOwnType, stableType, tempoType])
const gasPerBlob = 131_072n

/**
 * Checks that the header commits to the receipts of a block, and that what they show besides follows from what is committed
 * to: the gas of each from the sums, and, with `hasTransactions`, its price, its blob gas and the contract it created.
 * @param block - All of its receipts are known.
 * @param hasTransactions - The transactions are verified too.
 * @throws {NodeContradictionError} naming the root and both hashes, or the receipt and both values.
 * @remarks The price of blob gas and the fee of a rollup's parent chain stay the node's claim: no header commits to them.
 */
export function verifyReceiptsRoot(block: VerifiedBlock, hasTransactions: boolean): void {
  const { ref, raw, transactions, system } = block
  const committed = transactions.filter(hasReceipt).filter(({ hash }) => !system.has(hash))
  const baseFee = isAbsent(raw.baseFeePerGas) ? undefined : readQuantity(raw.baseFeePerGas, 'baseFeePerGas')
  const encoded = committed.map(({ hash, raw: own, receipt }) => {
    const where = `block ${ref.number} receipt of ${hash}`
    return encodeReceipt(receipt, own, where)
  })
  expectRoot(block, 'receiptsRoot', encoded)
  const onlyPrice = takesBaseFeeAlone(block) ? baseFee : undefined
  let gasBefore = 0n
  for (const transaction of committed) {
    const { hash, receipt } = transaction
    const where = `block ${ref.number} receipt of ${hash}`
    const gasSoFar = readQuantity(receipt.cumulativeGasUsed, where, 'cumulativeGasUsed')
    expectQuantity(receipt, 'gasUsed', gasSoFar - gasBefore, where)
    gasBefore = gasSoFar
    if (hasTransactions) verifyDerived(transaction, baseFee, onlyPrice, where)
  }
}

/** A transaction of a block whose receipts are all known. */
type Received = VerifiedTransaction & Required<Pick<VerifiedTransaction, 'receipt'>>

function hasReceipt(transaction: VerifiedTransaction): transaction is Received {
  return transaction.receipt !== undefined
}

/**
 * Reports whether transactions pay the base fee whatever they offer, as those of Arbitrum Nitro do. The mix hash holds the version
 * of ArbOS in bytes 16 to 23 and, in byte 25, whether tips are collected besides, as version 9 always did.
 */
function takesBaseFeeAlone({ ref, raw, transactions: [first] }: VerifiedBlock): boolean {
  const where = `block ${ref.number}`
  if (first === undefined || readType(first.raw, where) !== arbitrumInternalType) return false
  const [version, flags] = [[34, 50] as const, [52, 54] as const].map(([from, to]) =>
    Number.parseInt(readHash(raw.mixHash, where, 'mixHash').slice(from, to), 16)
  )
  return version !== 9 && flags === 0
}

/**
 * Checks what a receipt shows that follows from its transaction, where the protocol fixes it.
 * @param onlyPrice - that every transaction of the block pays; absent: each pays its own.
 */
function verifyDerived(
  { raw, receipt }: Received,
  baseFee: bigint | undefined,
  onlyPrice: bigint | undefined,
  where: string
): void {
  const type = readType(raw, where)
  const price = onlyPrice ?? effectivePrice(raw, type, baseFee, where)
  if (price !== undefined && !isAbsent(receipt.effectiveGasPrice)) {
    expectQuantity(receipt, 'effectiveGasPrice', price, where)
  }
  if (type === blobType) {
    const blobs = readList(raw.blobVersionedHashes, where, 'blobVersionedHashes')
    expectQuantity(receipt, 'blobGasUsed', gasPerBlob * BigInt(blobs.length), where)
    readQuantity(receipt.blobGasPrice, where, 'blobGasPrice')
  }
  if (type === tempoType) {
    const to = readOptionalAddress(receipt.to, where, 'to')
    const receiver = readReceiver(raw, where)
    if (to !== receiver) throw contradicts(where, 'to', to, receiver)
  }
  const created = readOptionalAddress(receipt.contractAddress, where, 'contractAddress')
  const isCreation = readOptionalAddress(raw.to, where, 'to') === undefined
  if (created === undefined || !isCreation || type > lastOwnType) return
  const nonce = readQuantity(raw.nonce, where, 'nonce')
  const derived = createdAddress(readAddress(raw.from, where, 'from'), nonce)
  if (created !== derived) throw contradicts(where, 'contractAddress', created, derived)
}

/** The price of one gas; `undefined` where it does not follow from the transaction. */
function effectivePrice(
  raw: RawObject,
  type: number,
  baseFee: bigint | undefined,
  where: string
): bigint | undefined {
  if (type === depositType) return 0n
  if (type < 2) return readQuantity(raw.gasPrice, where, 'gasPrice')
  if (!feeMarketTypes.has(type) || baseFee === undefined) return undefined
  const cap = readQuantity(raw.maxFeePerGas, where, 'maxFeePerGas')
  const wanted = baseFee + readQuantity(raw.maxPriorityFeePerGas, where, 'maxPriorityFeePerGas')
  return wanted < cap ? wanted : cap
}

function expectQuantity(receipt: RawObject, name: string, derived: bigint, where: string): void {
  const stated = readQuantity(receipt[name], where, name)
  if (stated !== derived) throw contradicts(where, name, stated, derived)
}

function contradicts(where: string, name: string, stated: unknown, derived: unknown) {
  return new NodeContradictionError(`${where}: ${name} is ${stated}, but ${derived} follows from the block`)
}
