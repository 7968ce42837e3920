import type { Address } from '@chain-data/index'
import { toHex } from '@chain-data/index/record'
import {
  type RawObject,
  readAddress,
  readList,
  readObject,
  readOptionalAddress
} from '../../../nodes/evm/rawFields.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'
import { keccak256 } from '../../../platform/keccak256.ts'
import type { RlpFields, RlpValue } from './rlpFields.ts'

/*
 * The parts of Tempo's own transactions (type 0x76) that no other chain has.
 * @see https://github.com/tempoxyz/tempo/tree/main/crates/primitives/src/transaction
 */

const nothing = new Uint8Array()

/** A signature of Tempo: of one of three kinds, by an account or by a key that the account authorized. */
export interface TempoSignature {
  readonly bytes: Uint8Array
  /** The account that the bytes name; absent: the signature has to be recovered. */
  readonly signer?: Address
}

const keyTypes = ['secp256k1', 'p256', 'webAuthn']

/** @throws {NodeContradictionError} when it is of no known kind, or malformed. */
export function readTempoSignature(signature: RlpFields): TempoSignature {
  if (!signature.has('userAddress')) return readOwnSignature(signature)
  const version = signature.raw.version === 'v2' ? 4 : 3
  const { bytes } = readOwnSignature(signature.object('signature'))
  return {
    bytes: Buffer.concat([Uint8Array.of(version), signature.address('userAddress'), bytes]),
    signer: readAddress(signature.raw.userAddress, signature.where, 'userAddress')
  }
}

function readOwnSignature(signature: RlpFields): TempoSignature {
  const point = [signature.word('r'), signature.word('s')]
  const type = keyType(signature, 'type')
  if (type === 0) return { bytes: Buffer.concat([...point, Uint8Array.of(27 + Number(parity(signature)))]) }
  const key = [signature.hash('pubKeyX'), signature.hash('pubKeyY')]
  const bytes =
    type === 1
      ? [...point, ...key, Uint8Array.of(Number(signature.flag('preHash')))]
      : [signature.bytes('webauthnData'), ...point, ...key]
  return {
    bytes: Buffer.concat([Uint8Array.of(type), ...bytes]),
    signer: toHex(keccak256(Buffer.concat(key)).subarray(12))
  }
}

function keyType(fields: RlpFields, name: string): number {
  const type = keyTypes.indexOf(String(fields.raw[name]))
  if (type >= 0) return type
  throw new NodeContradictionError(
    `${fields.where}: ${name} is ${JSON.stringify(fields.raw[name])}; expected ${keyTypes.join(', ')}`
  )
}

function parity(signature: RlpFields): bigint {
  return signature.integer(signature.has('yParity') ? 'yParity' : 'v')
}

/** The calls of a transaction, which it makes one after the other. */
export function readCalls(tx: RlpFields, name: string): RlpValue {
  return tx.objects(name, call => [call.optionalAddress('to'), call.integer('value'), call.bytes('input')])
}

/** The receiver of the first call, which counts as that of the transaction; absent: it creates a contract. */
export function readReceiver(raw: RawObject, where: string): Address | undefined {
  const [first] = readList(raw.calls, where, 'calls')
  return readOptionalAddress(readObject(first, where, 'calls[0]').to, where, 'calls[0].to')
}

/**
 * Checks that members of the usual names, which Tempo's own nodes leave out, agree with the calls.
 * @throws {NodeContradictionError} naming the member, and both values.
 */
export function verifyShown(tx: RlpFields): void {
  const { raw, where } = tx
  const [input = '0x'] = tx.objects('calls', call => toHex(call.bytes('input')))
  const value = tx.objects('calls', call => call.integer('value')).reduce((sum, each) => sum + each, 0n)
  const shown: readonly (readonly [name: string, stated: unknown, derived: unknown])[] = [
    ['to', raw.to !== undefined && readOptionalAddress(raw.to, where, 'to'), readReceiver(raw, where)],
    ['value', tx.has('value') && tx.integer('value'), value],
    ['input', tx.has('input') && toHex(tx.bytes('input')), input],
    ['data', tx.has('data') && toHex(tx.bytes('data')), input]
  ]
  for (const [name, stated, derived] of shown) {
    if (stated === false || stated === derived) continue
    throw new NodeContradictionError(`${where}: ${name} is ${stated}, but its calls make it ${derived}`)
  }
}

/** The signature of a sponsor; no bytes where the sender pays. */
export function readSponsor(tx: RlpFields, name: string): RlpValue {
  if (!tx.has(name)) return nothing
  const signature = tx.object(name)
  return [parity(signature), signature.integer('r'), signature.integer('s')]
}

/** EIP-7702 with signatures of Tempo. */
export function readTempoAuthorizations(tx: RlpFields, name: string): RlpValue {
  return tx.objects(name, tuple => [
    ...[tuple.integer('chainId'), tuple.address('address'), tuple.integer('nonce')],
    readTempoSignature(tuple.object('signature')).bytes
  ])
}

/** The authorization of a key that may sign for the account from now on. Members at its end that are missing are not written. */
export function readKeyAuthorization(tx: RlpFields, name: string): RlpValue {
  const key = tx.object(name)
  const limits = () =>
    key.objects('limits', limit => [
      ...[limit.address('token'), limit.integer('limit')],
      ...(limit.optionalInteger('period') === 0n ? [] : [limit.integer('period')])
    ])
  const calls = () =>
    key.objects('allowedCalls', scope => [
      scope.address('target'),
      scope.objects('selectorRules', rule => [rule.bytes('selector'), rule.addresses('recipients')])
    ])
  const optional = [
    key.has('expiry') && key.integer('expiry'),
    key.has('limits') && limits(),
    key.has('allowedCalls') && calls(),
    key.has('witness') && key.hash('witness'),
    key.flag('isAdmin') === 1n && 1n,
    key.has('account') && key.address('account')
  ]
  const end = optional.findLastIndex(value => value !== false) + 1
  const values = [
    ...[key.integer('chainId'), BigInt(keyType(key, 'keyType')), key.address('keyId')],
    ...optional.slice(0, end).map((value): RlpValue => (value === false ? nothing : value))
  ]
  return [values, readTempoSignature(key.object('signature')).bytes]
}
