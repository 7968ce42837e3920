import type { Hex } from '@chain-data/index'
import {
  isAbsent,
  type RawObject,
  readAddress,
  readBytes,
  readHash,
  readList,
  readObject,
  readOptionalAddress,
  readQuantity
} from '../../../nodes/evm/rawFields.ts'
import { readAuthorizationTuple } from './readAuthorizationTuple.ts'

/** A value of RLP: an integer, bytes, or a list of values. */
export type RlpValue = bigint | Uint8Array | RlpValue[]

/** Reads members of one JSON object as values of RLP. A member that is missing is a contradiction, never a zero. */
export class RlpFields {
  readonly raw: RawObject
  readonly where: string

  constructor(raw: RawObject, where: string) {
    this.raw = raw
    this.where = where
  }

  /** Reports whether the node gave this member. */
  has(name: string): boolean {
    return !isAbsent(this.raw[name])
  }

  /** Reads the members of a member. */
  object(name: string): RlpFields {
    return new RlpFields(readObject(this.raw[name], this.where, name), `${this.where}: ${name}`)
  }

  /** An integer, which RLP writes without leading zeros. */
  integer(name: string): bigint {
    return readQuantity(this.raw[name], this.where, name)
  }

  /** An integer as 32 bytes. */
  word(name: string): Uint8Array {
    return toBytes(`0x${this.integer(name).toString(16).padStart(64, '0')}`)
  }

  /** 32 bytes. */
  hash(name: string): Uint8Array {
    return toBytes(readHash(this.raw[name], this.where, name))
  }

  address(name: string): Uint8Array {
    return toBytes(readAddress(this.raw[name], this.where, name))
  }

  /** The receiver, which a creation does not have. */
  optionalAddress(name: string): Uint8Array {
    return toBytes(readOptionalAddress(this.raw[name], this.where, name) ?? '0x')
  }

  /** Bytes of any length; a member that is missing is no bytes. */
  bytes(name: string): Uint8Array {
    return toBytes(readBytes(this.raw[name], this.where, name))
  }

  /** One value for each entry of a list; a list that is missing is empty, as some nodes write it. */
  list<T>(name: string, read: (entry: unknown, where: string) => T): T[] {
    if (isAbsent(this.raw[name])) return []
    return readList(this.raw[name], this.where, name).map((entry, index) =>
      read(entry, `${this.where}: ${name}[${index}]`)
    )
  }

  /** Like {@link list}, for a list of objects. */
  objects<T>(name: string, read: (fields: RlpFields) => T): T[] {
    return this.list(name, (entry, where) => read(new RlpFields(readObject(entry, where), where)))
  }

  /** An integer that is 0 where it is missing. */
  optionalInteger(name: string): bigint {
    return this.has(name) ? this.integer(name) : 0n
  }

  /** `true` or `false`, written as 1 or 0; a member that is missing is `false`. */
  flag(name: string): bigint {
    return this.raw[name] === true ? 1n : 0n
  }

  /** An access list (EIP-2930). */
  accesses(name: string): RlpValue[] {
    return this.objects(name, entry => [entry.address('address'), entry.hashes('storageKeys')])
  }

  /** A list of authorizations (EIP-7702). */
  authorizations(name: string): RlpValue[] {
    return this.list(name, (entry, where) => {
      const tuple = new RlpFields(readAuthorizationTuple(entry, where), where)
      return [
        ...[tuple.integer('chainId'), tuple.address('address'), tuple.integer('nonce')],
        ...[tuple.integer('yParity'), tuple.integer('r'), tuple.integer('s')]
      ]
    })
  }

  /** A list of hashes. */
  hashes(name: string): Uint8Array[] {
    return this.list(name, (entry, where) => toBytes(readHash(entry, where)))
  }

  /** A list of addresses. */
  addresses(name: string): Uint8Array[] {
    return this.list(name, (entry, where) => toBytes(readAddress(entry, where)))
  }
}

/** Returns the bytes of 0x-hex that has been checked. */
function toBytes(hex: Hex): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex')
}
