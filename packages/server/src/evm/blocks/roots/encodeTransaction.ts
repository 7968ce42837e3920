import type { Address } from '@chain-data/index'
import { RLP } from '@ethereumjs/rlp'
import { isAbsent, type RawObject } from '../../../nodes/evm/rawFields.ts'
import { RlpFields, type RlpValue } from './rlpFields.ts'
import { readTempoSignature, verifyShown } from './tempoTransaction.ts'
import { findType, readFields, readType, type TransactionType } from './transactionTypes.ts'

/** A transaction in the bytes that its block commits to. */
export interface EncodedTransaction {
  /** The bytes whose hash is the transaction's, and which the transactions root covers. */
  readonly bytes: Uint8Array
  /** Absent: the bytes name the sender, or the chain made the transaction. */
  readonly signed?: SignedPart
  /** The sender that a signature of Tempo names. */
  readonly sender?: Address
}

/** What a sender signed. */
export interface SignedPart {
  readonly message: Uint8Array
  /** 0 or 1: which of the two points of the curve the signature means. */
  readonly parity: number
  readonly r: bigint
  readonly s: bigint
}

/**
 * Returns the bytes of a transaction as `eth_getBlockByNumber` shows it.
 * @returns `undefined` for a type whose encoding is not known.
 * @throws {NodeContradictionError} when a field is missing or malformed.
 */
export function encodeTransaction(raw: RawObject, where: string): EncodedTransaction | undefined {
  const found = findType(raw, where)
  if (found === undefined) return undefined
  const tx = new RlpFields(raw, where)
  const type = readType(raw, where)
  const payload = readFields(found.fields, tx)
  if (found.signature === 'none') return { bytes: typed(type, payload) }
  if (found.signature === 'tempo') return encodeTempo(tx, type, payload, found)
  const later = readFields(found.laterFields, tx)
  const v = type === 0 || isAbsent(raw.yParity) ? tx.integer('v') : tx.integer('yParity')
  const [r, s] = [tx.integer('r'), tx.integer('s')]
  const bytes = typed(type, [...payload, v, r, s, ...later])
  if (type > 0) {
    return { bytes, signed: { message: typed(type, [...payload, ...later]), parity: Number(v), r, s } }
  }
  // `v` of EIP-155 is 35 + 2 x chain id + parity; before, it was 27 + parity and the chain was not signed.
  const message = v < 35n ? payload : [...payload, (v - 35n) / 2n, 0n, 0n]
  const parity = Number(v < 35n ? v - 27n : (v - 35n) % 2n)
  return { bytes, signed: { message: typed(0, message), parity, r, s } }
}

function encodeTempo(
  tx: RlpFields,
  type: number,
  payload: RlpValue[],
  { fields }: TransactionType
): EncodedTransaction {
  verifyShown(tx)
  const signature = tx.object('signature')
  const { bytes: signatureBytes, signer } = readTempoSignature(signature)
  const bytes = typed(type, [...payload, signatureBytes])
  if (signer !== undefined) return { bytes, sender: signer }
  // The sender leaves the token of the fee to a sponsor, and signs that there is one.
  const open: Readonly<Record<string, RlpValue>> = tx.has('feePayerSignature')
    ? { feeToken: new Uint8Array(), feePayerSignature: Uint8Array.of(0) }
    : {}
  const message = typed(
    type,
    payload.map((value, index) => open[fields[index] ?? ''] ?? value)
  )
  const [r, s] = [signature.integer('r'), signature.integer('s')]
  return { bytes, signed: { message, parity: (signatureBytes.at(-1) ?? 0) - 27, r, s } }
}

/**
 * Returns the bytes of a receipt that the receipts root covers.
 * @param transaction - that the receipt is of.
 * @throws {NodeContradictionError} when a field is missing or malformed.
 */
export function encodeReceipt(raw: RawObject, transaction: RawObject, where: string): Uint8Array {
  const receipt = new RlpFields(raw, where)
  const { receiptFields = [] } = findType(transaction, where) ?? {}
  const areWritten = receiptFields.every(name => !isAbsent(raw[name]))
  const payload: RlpValue[] = [
    // Before Byzantium (EIP-658), the root of the state after the transaction.
    isAbsent(raw.root) || raw.root === '0x' ? receipt.integer('status') : receipt.hash('root'),
    receipt.integer('cumulativeGasUsed'),
    receipt.bytes('logsBloom'),
    receipt.objects('logs', log => [log.address('address'), log.hashes('topics'), log.bytes('data')]),
    ...(areWritten ? receiptFields.map(name => receipt.integer(name)) : [])
  ]
  return typed(readType(transaction, where), payload)
}

/** EIP-2718: the type, then its payload; a payload alone is of type 0. */
function typed(type: number, payload: RlpValue[]): Uint8Array {
  return type === 0 ? RLP.encode(payload) : Buffer.concat([Uint8Array.of(type), RLP.encode(payload)])
}
