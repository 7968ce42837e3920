import type { Address } from '@chain-data/index'
import { toHex } from '@chain-data/index/record'
import { readAddress } from '../../../nodes/evm/rawFields.ts'
import { keccak256 } from '../../../platform/keccak256.ts'
import { contradiction } from '../verification/contradiction.ts'
import type { VerifiedHeader, VerifiedHeaderTransaction } from '../verification/verifiedBlock.ts'
import { type EncodedTransaction, encodeTransaction } from './encodeTransaction.ts'
import { expectRoot } from './expectRoot.ts'
import type { RecoverSender } from './recoverSender.ts'
import { readType } from './transactionTypes.ts'

/** A transaction that the header commits to, with the bytes that it commits to. */
interface Encoded extends EncodedTransaction {
  readonly transaction: VerifiedHeaderTransaction
}

/**
 * Encodes the transactions that the header of their block commits to.
 * @param isWhole - Every type has to be known; otherwise transactions of unknown types are left out.
 * @throws {NodeContradictionError} naming the transaction, and the field that is malformed or the type that is not known.
 */
export function encodeTransactions(
  { ref, transactions, system }: VerifiedHeader,
  isWhole: boolean
): readonly Encoded[] {
  const committed = system.size === 0 ? transactions : transactions.filter(({ hash }) => !system.has(hash))
  return committed.flatMap(transaction => {
    const { hash, raw } = transaction
    const where = `block ${ref.number} transaction ${hash}`
    const encoded = encodeTransaction(raw, where)
    if (encoded !== undefined) return [{ ...encoded, transaction }]
    if (!isWhole) return []
    throw contradiction(ref.number, `${where} has type ${readType(raw, where)}, whose encoding is not known`)
  })
}

/**
 * Checks that each transaction has the hash of its fields.
 * @throws {NodeContradictionError} naming the transaction, and both hashes.
 */
export function verifyHashes({ ref }: VerifiedHeader, encoded: readonly Encoded[]): void {
  for (const { bytes, transaction } of encoded) {
    const { hash, index } = transaction
    const computed = toHex(keccak256(bytes))
    if (computed === hash) continue
    const text = `transaction ${index} has hash ${hash}, but the hash of its fields is ${computed}`
    throw contradiction(ref.number, text)
  }
}

/**
 * Checks that the index of each transaction is its position, and that the header commits to these transactions in this order.
 * @throws {NodeContradictionError} naming the transaction or the root, and both hashes.
 */
export function verifyTransactionsRoot(header: VerifiedHeader, encoded: readonly Encoded[]): void {
  const { ref, system } = header
  for (const [position, { transaction }] of encoded.entries()) {
    const { hash, index } = transaction
    if (system.size === 0 && index !== position) {
      throw contradiction(ref.number, `transaction ${hash} has index ${index} at position ${position}`)
    }
  }
  expectRoot(
    header,
    'transactionsRoot',
    encoded.map(({ bytes }) => bytes)
  )
}

/** Senders of the transactions that Tempo and Stable make themselves. Nobody has their keys. */
const systemSenders: ReadonlySet<Address> = new Set([
  `0x${'0'.repeat(40)}` as const,
  `0x${'8'.repeat(40)}` as const
])

/**
 * Checks that each transaction was signed by its sender.
 * @param isCommitted - The transactions root covers these bytes. Otherwise every transaction needs a signature.
 * @throws {NodeContradictionError} naming the transaction, and both addresses.
 * @remarks One public key to recover for each transaction, which takes longer than everything else about it.
 */
export function verifySenders(
  { ref }: VerifiedHeader,
  encoded: readonly Encoded[],
  recover: RecoverSender,
  isCommitted: boolean
): void {
  for (const { signed, sender, transaction } of encoded) {
    if (signed === undefined && sender === undefined) continue
    const { hash, raw } = transaction
    const from = readAddress(raw.from, `block ${ref.number} transaction ${hash}`, 'from')
    if (isCommitted && signed?.r === 0n && signed.s === 0n && systemSenders.has(from)) continue
    const signer = sender ?? (signed && recover(signed))
    if (signer !== from) {
      const text = `transaction ${hash} is from ${from}, but was signed by ${signer ?? 'nobody'}`
      throw contradiction(ref.number, text)
    }
  }
}
