import { RLP } from '@ethereumjs/rlp'
import { isAbsent, type RawObject, readCount } from '../../../nodes/evm/rawFields.ts'
import { RlpFields, type RlpValue } from './rlpFields.ts'

/** A transaction in the bytes that its block commits to. */
export interface EncodedTransaction {
  readonly type: number
  /** The bytes whose hash is the transaction's, and which the transactions root covers. */
  readonly bytes: Uint8Array
  /** Absent: the chain made it (a deposit of a rollup), and the bytes name the sender. */
  readonly signed?: SignedPart
}

/** What a sender signed. */
export interface SignedPart {
  readonly message: Uint8Array
  /** 0 or 1: which of the two points of the curve the signature means. */
  readonly parity: number
  readonly r: bigint
  readonly s: bigint
}

type Encode = (fields: RlpFields) => RlpValue[]

/** How each EIP-2718 type that a sender signs is written, without its signature. */
const signedTypes: ReadonlyMap<number, Encode> = new Map<number, Encode>([
  [1, tx => [tx.integer('chainId'), tx.integer('nonce'), tx.integer('gasPrice'), ...callOf(tx)]],
  [2, tx => feeMarketOf(tx)],
  [3, tx => [...feeMarketOf(tx), tx.integer('maxFeePerBlobGas'), tx.hashes('blobVersionedHashes')]],
  [4, tx => [...feeMarketOf(tx), tx.objects('authorizationList', authorizationOf)]]
])

/** A deposit of the OP stack. @see https://specs.optimism.io/protocol/deposits.html */
export const depositType = 0x7e

/**
 * Returns the bytes of a transaction as `eth_getBlockByNumber` shows it: types 0 to 4, and deposits of the OP stack.
 * @returns `undefined` for a type whose encoding is not known.
 * @throws {NodeContradictionError} when a field is missing or malformed.
 */
export function encodeTransaction(raw: RawObject, where: string): EncodedTransaction | undefined {
  const tx = new RlpFields(raw, where)
  const type = readType(raw, where)
  if (type === 0) return encodeLegacy(tx)
  if (type === depositType) return { type, bytes: typed(type, depositOf(tx)) }
  const unsigned = signedTypes.get(type)?.(tx)
  if (unsigned === undefined) return undefined
  const parity = isAbsent(raw.yParity) ? tx.integer('v') : tx.integer('yParity')
  const [r, s] = [tx.integer('r'), tx.integer('s')]
  return {
    type,
    bytes: typed(type, [...unsigned, parity, r, s]),
    signed: { message: typed(type, unsigned), parity: Number(parity), r, s }
  }
}

/** The number of a transaction's EIP-2718 type; 0 where the node has none. */
export function readType({ type }: RawObject, where: string): number {
  return isAbsent(type) ? 0 : readCount(type, where, 'type')
}

/** EIP-2718: the type, then its payload. */
export function typed(type: number, payload: RlpValue[]): Uint8Array {
  return Buffer.concat([Uint8Array.of(type), RLP.encode(payload)])
}

/** `v` of EIP-155 is 35 + 2 x chain id + parity; before, it was 27 + parity and the chain was not signed. */
function encodeLegacy(tx: RlpFields): EncodedTransaction {
  const unsigned = [
    ...[tx.integer('nonce'), tx.integer('gasPrice'), tx.integer('gas')],
    ...[tx.optionalAddress('to'), tx.integer('value'), tx.bytes('input')]
  ]
  const [v, r, s] = [tx.integer('v'), tx.integer('r'), tx.integer('s')]
  const message = v < 35n ? unsigned : [...unsigned, (v - 35n) / 2n, 0n, 0n]
  return {
    type: 0,
    bytes: RLP.encode([...unsigned, v, r, s]),
    signed: { message: RLP.encode(message), parity: Number(v < 35n ? v - 27n : (v - 35n) % 2n), r, s }
  }
}

function feeMarketOf(tx: RlpFields): RlpValue[] {
  const fees = [tx.integer('maxPriorityFeePerGas'), tx.integer('maxFeePerGas')]
  return [tx.integer('chainId'), tx.integer('nonce'), ...fees, ...callOf(tx)]
}

function callOf(tx: RlpFields): RlpValue[] {
  return [
    ...[tx.integer('gas'), tx.optionalAddress('to'), tx.integer('value'), tx.bytes('input')],
    tx.objects('accessList', entry => [entry.address('address'), entry.hashes('storageKeys')])
  ]
}

function authorizationOf(tuple: RlpFields): RlpValue[] {
  return [
    ...[tuple.integer('chainId'), tuple.address('address'), tuple.integer('nonce')],
    ...[tuple.integer('yParity'), tuple.integer('r'), tuple.integer('s')]
  ]
}

function depositOf(tx: RlpFields): RlpValue[] {
  const mint = isAbsent(tx.raw.mint) ? 0n : tx.integer('mint')
  const isSystem = tx.raw.isSystemTx === true ? 1n : 0n
  return [
    ...[tx.hash('sourceHash'), tx.address('from'), tx.optionalAddress('to'), mint],
    ...[tx.integer('value'), tx.integer('gas'), isSystem, tx.bytes('input')]
  ]
}
