import { RLP } from '@ethereumjs/rlp'
import { isAbsent, type RawObject } from '../../../nodes/evm/rawFields.ts'
import { RlpFields } from './rlpFields.ts'

type Kind = 'hash' | 'address' | 'bytes' | 'integer'

/** The fields of a header in the order in which its hash covers them. */
const fields: readonly (readonly [name: string, kind: Kind])[] = [
  ['parentHash', 'hash'],
  ['sha3Uncles', 'hash'],
  ['miner', 'address'],
  ['stateRoot', 'hash'],
  ['transactionsRoot', 'hash'],
  ['receiptsRoot', 'hash'],
  ['logsBloom', 'bytes'],
  ['difficulty', 'integer'],
  ['number', 'integer'],
  ['gasLimit', 'integer'],
  ['gasUsed', 'integer'],
  ['timestamp', 'integer'],
  ['extraData', 'bytes'],
  ['mixHash', 'hash'],
  ['nonce', 'bytes']
]

/** Fields that forks have appended, each to all those before it: EIP-1559, 4895, 4844 (two), 4788, 7685. */
const laterFields: typeof fields = [
  ['baseFeePerGas', 'integer'],
  ['withdrawalsRoot', 'hash'],
  ['blobGasUsed', 'integer'],
  ['excessBlobGas', 'integer'],
  ['parentBeaconBlockRoot', 'hash'],
  ['requestsHash', 'hash']
]

/** Members of an answer that are no fields of the header. */
const besides = ['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals', 'author']

const known = new Set([...[...fields, ...laterFields].map(([name]) => name), ...besides])

/**
 * Returns the RLP of a header, whose hash is the hash of its block.
 * @throws {NodeContradictionError} when one of the fields that every header has is missing or malformed.
 */
export function encodeHeader(raw: RawObject, where: string): Uint8Array {
  const header = new RlpFields(raw, where)
  const present = laterFields.filter(([name]) => !isAbsent(raw[name]))
  return RLP.encode([...fields, ...present].map(([name, kind]) => header[kind](name)))
}

/** Names the members of a block's answer of which it is not known whether the block's hash covers them. */
export function unknownMembers(raw: RawObject): string[] {
  return Object.keys(raw).filter(name => !known.has(name))
}
