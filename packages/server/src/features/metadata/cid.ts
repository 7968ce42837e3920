import { createHash } from 'node:crypto'
import { base16, base16upper } from 'multiformats/bases/base16'
import { base32, base32upper } from 'multiformats/bases/base32'
import { base36, base36upper } from 'multiformats/bases/base36'
import { base58btc } from 'multiformats/bases/base58'
import { base64url } from 'multiformats/bases/base64'
import { CID } from 'multiformats/cid'
import { decode as decodeMultihash } from 'multiformats/hashes/digest'

/** The parts of an IPFS content identifier. */
export interface Cid {
  /** Form of the block: 0x55 raw bytes, 0x70 dag-pb (files and folders), 0x72 a peer's key, others. */
  readonly codec: number
  /** 0x12 SHA2-256, 0x00 the content itself, others. */
  readonly hashFunction: number
  readonly digest: Uint8Array
}

const rawCodec = 0x55
const dagPbCodec = 0x70
const sha256Function = 0x12
const identityFunction = 0x00

const maxCidLength = 256
const bases = [base16, base16upper, base32, base32upper, base36, base36upper, base58btc, base64url]

/**
 * Reads an IPFS content identifier: a version 0 one (`Qm...`), or a version 1 one in base16, base32, base36, base58 or
 * base64url.
 *
 * Checked to the last byte, because it becomes part of a URL and decides that an answer may be kept for ever.
 * @returns absent when it is none.
 * @see https://github.com/multiformats/cid
 */
export function readCid(text: string): Cid | undefined {
  // The library takes padding and spaces, and version 1 in base58 without its prefix.
  if (text.length > maxCidLength || !/^[\w-]+$/.test(text)) return undefined
  const isVersion0 = text.startsWith('Qm')
  const base = isVersion0 ? base58btc : bases.find(({ prefix }) => prefix === text[0])
  if (base === undefined) return undefined
  try {
    const { version, code, multihash } = CID.parse(text, base)
    if (version !== (isVersion0 ? 0 : 1)) return undefined
    return { codec: code, hashFunction: multihash.code, digest: multihash.digest }
  } catch {
    return undefined
  }
}

/** Returns whether a text is a peer's id: the hash of its key, as base58 without a prefix (`12D3Koo...`, `Qm...`). */
export function isPeerId(text: string): boolean {
  if (text.length > maxCidLength) return false
  try {
    decodeMultihash(base58btc.baseDecode(text))
    return true
  } catch {
    return false
  }
}

/** Names the address in one way for all its spellings: codec and multihash in hex. */
export function canonicalCid({ codec, hashFunction, digest }: Cid): string {
  return `${codec.toString(16)}-${hashFunction.toString(16)}-${Buffer.from(digest).toString('hex')}`
}

/**
 * The verdict on a body that should be the content of a CID.
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
