import { StoreError } from '../../platform/errors.ts'
import { type CustomTypesConfig, types } from './driver.ts'

const bigintOid = 20
const byteaOid = 17

/** Values as this program wants them: `bigint` columns as exact numbers, `bytea` as Buffers, in either format. */
export const valueTypes: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === bigintOid) return format === 'binary' ? readBigint : parseBigint
    if (oid === byteaOid && format === 'binary') return (bytes: Buffer) => bytes
    return format === 'binary' ? types.getTypeParser(oid, 'binary') : types.getTypeParser(oid, 'text')
  }
}

function parseBigint(text: string): number {
  return exact(Number(text), text)
}

function readBigint(bytes: Buffer): number {
  const value = bytes.readBigInt64BE()
  return exact(Number(value), value)
}

/** @throws {StoreError} a stored number that would be rounded: nothing of ours is that large. */
function exact(value: number, stored: string | bigint): number {
  if (Number.isSafeInteger(value)) return value
  throw new StoreError(`the store holds the number ${stored}, which is beyond 2^53`)
}
