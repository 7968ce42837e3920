import type { UserOperation } from '../model/evm.ts'
import { AddressNumbers, NumberedAddresses, type Transferring, zeroAddress } from './addressNumbers.ts'
import { hashLength, type RecordParts } from './RecordParts.ts'
import { ByteReader, type ByteWriter, damaged } from './recordBytes.ts'

/*
 * Each operation of a record: 1 where it succeeded, else 0 (1 byte); EntryPoint, sender and paymaster as address numbers, where
 * number 0, the zero address, means no paymaster; its hash (32); nonce and cost as integers.
 */

/** @throws {StoreError} a value has no room in the format. */
export function writeOperations(
  writer: ByteWriter,
  transaction: Transferring,
  operations: readonly UserOperation[]
): void {
  const numbers = new AddressNumbers(transaction)
  for (const operation of operations) {
    writer.byte(operation.success ? 1 : 0)
    numbers.write(writer, operation.entryPoint)
    numbers.write(writer, operation.sender)
    numbers.write(writer, operation.paymaster ?? zeroAddress)
    writer.fixed(operation.userOpHash, hashLength)
    writer.integer(operation.nonce)
    writer.integer(operation.actualGasCost)
  }
}

/** Iterates over the operations of a record as `TransferWalk` does over its token transfers. */
export class OperationWalk {
  success = false
  /** Offsets in `addresses`, 20 bytes each; `paymaster` 0: none. */
  entryPoint = 0
  sender = 0
  paymaster = 0
  /** Offsets in the record: 32 bytes, then two integers. */
  userOpHash = 0
  nonce = 0
  actualGasCost = 0
  readonly #addresses = new NumberedAddresses()
  readonly #reader = new ByteReader()
  #record: Uint8Array = new Uint8Array()

  /** @param parts - its last `locate` was this record. */
  begin(bytes: Uint8Array, parts: RecordParts): void {
    this.#record = bytes
    this.#reader.begin(bytes, parts.operations, parts.operations + parts.operationsLength)
    if (parts.operationsLength > 0) this.#addresses.begin(bytes, parts)
  }

  get addresses(): Buffer {
    return this.#addresses.bytes
  }

  /** Goes to the next operation. @returns false: there is none. @throws {StoreError} the bytes are damaged. */
  next(): boolean {
    const reader = this.#reader
    if (reader.atEnd) return false
    const success = reader.byte()
    if (success > 1) throw damaged('an operation neither succeeded nor failed')
    this.success = success === 1
    this.entryPoint = this.#addresses.read(reader, this.#record)
    this.sender = this.#addresses.read(reader, this.#record)
    this.paymaster = this.#addresses.read(reader, this.#record)
    this.userOpHash = reader.skip(hashLength)
    this.nonce = reader.integer()
    this.actualGasCost = reader.integer()
    return true
  }
}
