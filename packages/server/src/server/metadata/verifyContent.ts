import { createHash } from 'node:crypto'
import { type Cid, dagPbCodec, identityFunction, rawCodec, sha256Function } from './cid.ts'

/**
 * What can be said of a body that should be the content of a CID.
 * - `proven`: it is, beyond doubt.
 * - `refuted`: it is not; whoever gave it lies or is broken.
 * - `open`: one block does not tell.
 */
export type ContentProof = 'proven' | 'refuted' | 'open'

/**
 * Holds a file against its CID, as far as one block goes.
 *
 * A raw block (most `bafkrei...`) is the file itself, so everything is decided. A dag-pb block (`Qm...`, `bafybei...`) with
 * the whole file inside is built anew, as common tools write it, and proves the file when the hash agrees. What stays open,
 * and has to be taken on the gateway's word: a file of several blocks (over 256 KiB as a rule) or with unusual
 * attributes, whose root block is not known here; another hash than SHA2-256; and whatever lies at a path below a folder,
 * which is not asked here at all.
 *
 * @see https://specs.ipfs.tech/unixfs/
 */
export function verifyContent({ codec, hashFunction, digest }: Cid, body: Uint8Array): ContentProof {
  const known = hashFunction === identityFunction || (hashFunction === sha256Function && digest.length === 32)
  if (!known) return 'open'
  const isOfDigest = (block: Uint8Array) => {
    const hash = hashFunction === identityFunction ? block : createHash('sha256').update(block).digest()
    return Buffer.compare(hash, digest) === 0
  }
  if (codec === rawCodec) return isOfDigest(body) ? 'proven' : 'refuted'
  if (codec !== dagPbCodec) return 'open'
  return [fileType, rawType].some(type => isOfDigest(dagPbBlock(type, body))) ? 'proven' : 'open'
}

/** UnixFS types of a block that holds bytes of a file: `File` today, `Raw` in older trees. */
const fileType = 2
const rawType = 0

/** A dag-pb node without links around a UnixFS node: type, data, size. */
function dagPbBlock(type: number, body: Uint8Array): Uint8Array {
  const unixFs = Buffer.concat([
    ...[Buffer.from([0x08, type, 0x12]), varint(body.length), body],
    ...[Buffer.from([0x18]), varint(body.length)]
  ])
  return Buffer.concat([Buffer.from([0x0a]), varint(unixFs.length), unixFs])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  for (; left >= 0x80; left >>>= 7) bytes.push((left & 0x7f) | 0x80)
  return Buffer.from([...bytes, left])
}
