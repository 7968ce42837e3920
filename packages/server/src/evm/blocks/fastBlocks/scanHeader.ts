import { hashLength } from '../../../index/record/encodeBlock.ts'
import { maxTransactionsPerBlock } from '../../../index/record/transactionId.ts'
import type { BlockRef, Hash } from '../../../model/evm.ts'
import { decline, unlessDeclined } from './decline.ts'
import { decodeHex, sameBytes } from './decodeHex.ts'
import { JsonCursor } from './JsonCursor.ts'
import { MemberNames } from './MemberNames.ts'
import { Members } from './Members.ts'
import { fixedInBlock, fixedInTransaction, inBlock, inTransaction } from './readMembers.ts'

/** A block whose own parts agree, as `verifyHeader` checks it, still as the bytes that came. */
export interface ScannedHeader {
  readonly ref: BlockRef
  readonly parentHash: Hash
  readonly timestampSeconds: number
  /** The result as it came. */
  readonly bytes: Uint8Array
  /** The members of the block itself. */
  readonly block: Members
  /** The members of each transaction, in block order. */
  readonly transactions: Members
  /** Place in the block of each transaction, ascending. */
  readonly indexes: Uint16Array
  /** 32 bytes for each transaction. */
  readonly hashes: Uint8Array
}

const emptyRoot = Buffer.from('56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421', 'hex')
const root = new Uint8Array(hashLength)

/**
 * Reads the block in the answer to `eth_getBlockByNumber(number, true)` without parsing it.
 * @param bytes - of the result alone. They are kept and must not change.
 * @returns `undefined` when it is not of the plain form, is empty, or does not pass every check of `verifyHeader`: then
 *   that function has to decide.
 */
export type ScanHeader = (bytes: Uint8Array, number: number) => ScannedHeader | undefined

/** @returns a reader that remembers the order in which the nodes of one chain write members. */
export function createHeaderScan(): ScanHeader {
  const names = {
    block: new MemberNames(inBlock, fixedInBlock),
    transaction: new MemberNames(inTransaction, fixedInTransaction)
  }
  return (bytes, number) => unlessDeclined(() => readHeader(bytes, number, names))
}

function readHeader(
  bytes: Uint8Array,
  number: number,
  names: { readonly block: MemberNames; readonly transaction: MemberNames }
): ScannedHeader {
  const cursor = new JsonCursor(bytes)
  const block = new Members(names.block, bytes)
  const transactions = new Members(names.transaction, bytes)
  block.read(cursor, inBlock.transactions, () => cursor.readList(() => transactions.read(cursor)))
  if (cursor.at !== bytes.length || transactions.count === 0) decline()
  if (transactions.count > maxTransactionsPerBlock) decline()
  block.trim()
  transactions.trim()
  if (block.number(inBlock.number) !== number) decline()
  refuseEmptyRoot(block, inBlock.transactionsRoot)
  refuseEmptyRoot(block, inBlock.receiptsRoot)
  return {
    ref: { number, hash: hashOf(block, inBlock.hash) },
    parentHash: hashOf(block, inBlock.parentHash),
    timestampSeconds: block.number(inBlock.timestamp),
    bytes,
    block,
    transactions,
    ...readPlaces(block, transactions)
  }
}

function hashOf(block: Members, member: number): Hash {
  const place = block.fixed(member, hashLength)
  decodeHex(block.bytes, place, hashLength, root, 0)
  return `0x${Buffer.from(root).toString('hex')}`
}

/** Any other root than the one of an empty trie is right where there are transactions, also none at all. */
function refuseEmptyRoot(block: Members, member: number): void {
  if (!block.has(member)) return
  decodeHex(block.bytes, block.fixed(member, hashLength), hashLength, root, 0)
  if (sameBytes(root, 0, emptyRoot, 0, hashLength)) decline()
}

/** Each transaction is of this block, comes once, and stands behind the one before. */
function readPlaces(block: Members, transactions: Members): Pick<ScannedHeader, 'indexes' | 'hashes'> {
  const { bytes, count } = transactions
  const indexes = new Uint16Array(count)
  const hashes = Buffer.alloc(count * hashLength)
  // Two hashes that begin alike are as good as never seen; then the ordinary path compares the whole of them.
  const seen = new Set<number>()
  let previous = -1
  for (let place = 0; place < count; place++) {
    transactions.select(place)
    decodeHex(
      bytes,
      transactions.fixed(inTransaction.hash, hashLength),
      hashLength,
      hashes,
      place * hashLength
    )
    seen.add(hashes.readUIntBE(place * hashLength, 6))
    transactions.expectSame(inTransaction.blockHash, block, inBlock.hash)
    transactions.expectSame(inTransaction.blockNumber, block, inBlock.number)
    const index = transactions.has(inTransaction.transactionIndex)
      ? transactions.number(inTransaction.transactionIndex)
      : place
    if (index <= previous || index >= maxTransactionsPerBlock) decline()
    indexes[place] = index
    previous = index
  }
  if (seen.size !== count) decline()
  return { indexes, hashes }
}
