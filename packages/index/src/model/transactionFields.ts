import type { AccessListEntry, Address, Hash, Hex } from './hex.ts'

/**
 * Every field of a transaction that is stored, each in one row: its name here and on the wire, its place among the flags of
 * a record, its bytes and its JSON form. Records are written and read by this table, as bytes, as values and as text
 * (`record/record.ts`, and `server/methods/` of the server), and the types of transactions follow from it. Rows stand in the order of
 * the bytes. Stored bytes depend on each row: a row may be added with a new flag, none changed.
 *
 * - `in`: in records of blocks, of the pool, or of both.
 * - `flag`: the bit that says that the field is there; 0: it always is. 16 and 32 say more (see `failed`, `fee`), and 128 of a
 *   confirmed record says that tokens were transferred.
 * - `codec`: its bytes (`Codecs`). `json`: its form on the wire (`JsonForm`). `wire`: its name there, where it is another.
 * - `ofReceipt`: only the receipt shows it, so that a record without a receipt lacks it.
 */
export const transactionFields = [
  { name: 'hash', in: 'both', flag: 0, codec: 'hash', json: 'hex' },
  { name: 'from', in: 'both', flag: 0, codec: 'address', json: 'address' },
  // Absent: the transaction creates a contract.
  { name: 'to', in: 'both', flag: 1, codec: 'address', json: 'address' },
  // EIP-2718 number, passed through as it is; 0 where the node gives none.
  { name: 'type', in: 'both', flag: 0, codec: 'count', json: 'number' },
  { name: 'value', in: 'both', flag: 0, codec: 'integer', json: 'quantity' },
  // u64 on the node, both; exact beyond 2^53.
  { name: 'gasLimit', in: 'both', flag: 0, codec: 'integer', json: 'integer' },
  { name: 'nonce', in: 'both', flag: 0, codec: 'integer', json: 'integer' },
  { name: 'maxFeePerGas', in: 'both', flag: 4, codec: 'integer', json: 'quantity' },
  { name: 'maxPriorityFeePerGas', in: 'both', flag: 8, codec: 'integer', json: 'quantity' },
  { name: 'accessList', in: 'both', flag: 2, codec: 'accessList', json: 'accessList' },
  // EIP-4844, both. Absent also in records that were written before there were rows for them.
  { name: 'maxFeePerBlobGas', in: 'both', flag: 256, codec: 'integer', json: 'quantity' },
  { name: 'blobVersionedHashes', in: 'both', flag: 512, codec: 'hashes', json: 'hashes' },
  { name: 'data', in: 'both', flag: 0, codec: 'data', json: 'hex' },
  { name: 'timestampSeconds', wire: 'timestamp', in: 'confirmed', flag: 0, codec: 'count', json: 'number' },
  // Effective gas price, wei; in the pool of types 0 and 1 only.
  { name: 'gasPrice', in: 'confirmed', flag: 0, codec: 'integer', json: 'quantity', ofReceipt: true },
  { name: 'gasPrice', in: 'pending', flag: 128, codec: 'integer', json: 'quantity' },
  { name: 'gasSpent', in: 'confirmed', flag: 0, codec: 'integer', json: 'quantity', ofReceipt: true },
  // gasSpent x gasPrice, plus blob gas and a rollup's L1 fee where the receipt has them. The product alone is not stored.
  {
    name: 'feeWei',
    wire: 'fees',
    in: 'confirmed',
    flag: 32,
    codec: 'fee',
    json: 'quantity',
    ofReceipt: true
  },
  // Only for a creation that succeeded.
  { name: 'contractAddress', in: 'confirmed', flag: 64, codec: 'address', json: 'address', ofReceipt: true },
  // 3: succeeded; 4: failed. Its flag is all that is stored.
  { name: 'status', in: 'confirmed', flag: 16, codec: 'failed', json: 'number', ofReceipt: true },
  // Where it is in the chain, which the key of the record says.
  { name: 'blockNumber', in: 'confirmed', flag: 0, codec: 'position', json: 'number' }
] as const satisfies readonly FieldRow[]

/** The order of the fields on the wire, where it is not that of the table. */
const wireOrder = {
  ...{ hash: 1, from: 2, to: 3, value: 4, data: 5, gasLimit: 6, type: 7, nonce: 8, accessList: 9 },
  ...{ maxPriorityFeePerGas: 10, maxFeePerGas: 11, maxFeePerBlobGas: 12, blobVersionedHashes: 13 },
  ...{ timestampSeconds: 14, status: 15, gasSpent: 16, gasPrice: 17, feeWei: 18, blockNumber: 19 },
  contractAddress: 20
} satisfies Record<Row['name'], number>

/** The rows in the order of the wire. */
export const wireFields: readonly Field[] = transactionFields.toSorted(
  (one, other) => wireOrder[one.name] - wireOrder[other.name]
)

/** What each codec makes of its bytes. */
interface Codecs {
  /** 32 bytes. */
  readonly hash: Hash
  /** 20 bytes. */
  readonly address: Address
  /** A varint. */
  readonly count: number
  /** Its length, then its bytes, big-endian without leading zeros. */
  readonly integer: bigint
  /** Any bytes, runs of zeros counted. */
  readonly data: Hex
  /** Entry after entry (address, count of keys, keys), as `data`. */
  readonly accessList: readonly AccessListEntry[]
  /** Their count, then 32 bytes for each. */
  readonly hashes: readonly Hash[]
  /** An integer, where the flag is set; else gasSpent x gasPrice. */
  readonly fee: bigint
  /** No bytes: the flag is set for 4, and not set for 3. */
  readonly failed: 3 | 4
  /** No bytes. */
  readonly position: number
}

/** `quantity`: minimal 0x-hex (EIP-1474); `integer`: decimal, every digit of it; `address`: checksummed. */
type JsonForm = 'hex' | 'address' | 'number' | 'quantity' | 'integer' | 'accessList' | 'hashes'

interface FieldRow {
  readonly name: string
  readonly wire?: string
  readonly in: 'both' | 'confirmed' | 'pending'
  readonly flag: number
  readonly codec: keyof Codecs
  readonly json: JsonForm
  readonly ofReceipt?: true
}

type Row = (typeof transactionFields)[number]
/** A row without its own types. */
export type Field = FieldRow & { readonly name: Row['name'] }

type OfReceipt = { readonly ofReceipt: true }
type Present = Extract<Exclude<Row, OfReceipt>, { readonly flag: 0 }>
type FieldsOf<R extends Row> = {
  readonly [F in Extract<R, Present> as F['name']]: Codecs[F['codec']]
} & { readonly [F in Exclude<R, Present> as F['name']]?: Codecs[F['codec']] }

/** Fields that a transaction has before any block has accepted it, also in a block. */
export type SharedFields = FieldsOf<Extract<Row, { readonly in: 'both' }>>
/** Fields of transactions in the pool only. */
export type PendingFields = FieldsOf<Extract<Row, { readonly in: 'pending' }>>
/** Fields of transactions in blocks only. */
export type ConfirmedFields = FieldsOf<Extract<Row, { readonly in: 'confirmed' }>>
