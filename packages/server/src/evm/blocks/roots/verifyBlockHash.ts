import { toHex } from '@chain-data/index/record'
import { RLP } from '@ethereumjs/rlp'
import { isAbsent, type RawObject, readObject } from '../../../nodes/evm/rawFields.ts'
import { keccak256 } from '../../../platform/keccak256.ts'
import { contradiction } from '../verification/contradiction.ts'
import type { VerifiedHeader } from '../verification/verifiedBlock.ts'
import { RlpFields } from './rlpFields.ts'

type Kind = 'hash' | 'address' | 'bytes' | 'integer'
type Fields = readonly (readonly [name: string, kind: Kind])[]

/** The fields of a header in the order in which its hash covers them. */
const fields = toFields(
  `parentHash:hash sha3Uncles:hash miner:address stateRoot:hash transactionsRoot:hash receiptsRoot:hash logsBloom:bytes
  difficulty:integer number:integer gasLimit:integer gasUsed:integer timestamp:integer extraData:bytes mixHash:hash nonce:bytes`
)

/** Fields that forks have appended, each to all those before it: EIP-1559, 4895, 4844 (two), 4788, 7685. */
const laterFields = toFields(
  `baseFeePerGas:integer withdrawalsRoot:hash blobGasUsed:integer excessBlobGas:integer parentBeaconBlockRoot:hash
  requestsHash:hash`
)

/** The fields that Tempo writes before those of Ethereum, which are one list then, and after them once it names who proposed a block. */
const tempoFields = toFields(
  'mainBlockGeneralGasLimit:integer sharedGasLimit:integer timestampMillisPart:integer'
)
const tempoContext = 'consensusContext'
const tempoContextFields = toFields('epoch:integer view:integer parentView:integer proposer:hash')

function toFields(text: string): Fields {
  return text.split(/\s+/).map(field => field.split(':') as [string, Kind])
}

/** Members of an answer that are no fields of the header. */
const besides = [
  ...['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals', 'author'],
  'timestampMillis'
]

const known = new Set([
  ...[...fields, ...laterFields, ...tempoFields].map(([name]) => name),
  ...[tempoContext, ...besides]
])

/**
 * Checks that a block's hash is the hash of its header.
 * @throws {NodeContradictionError} naming both hashes, and the members of the answer that may be fields not known here.
 */
export function verifyBlockHash({ ref, raw }: VerifiedHeader): void {
  const computed = toHex(keccak256(encodeHeader(raw, `block ${ref.number}`)))
  if (computed === ref.hash) return
  const unknown = unknownMembers(raw)
  const hint = unknown.length === 0 ? '' : `; not known as fields of a header: ${unknown.join(', ')}`
  throw contradiction(ref.number, `hash is ${ref.hash}, but the hash of its header is ${computed}${hint}`)
}

/** @throws {NodeContradictionError} one of the fields that every header has is missing or malformed. */
function encodeHeader(raw: RawObject, where: string): Uint8Array {
  const header = new RlpFields(raw, where)
  const present = laterFields.filter(([name]) => !isAbsent(raw[name]))
  const read = (from: RlpFields, names: Fields) => names.map(([name, kind]) => from[kind](name))
  const own = read(header, [...fields, ...present])
  if (tempoFields.every(([name]) => isAbsent(raw[name]))) return RLP.encode(own)
  const context = isAbsent(raw[tempoContext])
    ? []
    : [read(new RlpFields(readObject(raw[tempoContext], where, tempoContext), where), tempoContextFields)]
  return RLP.encode([...read(header, tempoFields), own, ...context])
}

/** Names the members of a block's answer of which it is not known whether the block's hash covers them. */
function unknownMembers(raw: RawObject): string[] {
  return Object.keys(raw).filter(name => !known.has(name))
}
