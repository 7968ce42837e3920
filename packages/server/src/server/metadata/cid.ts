import { fromMultibase, readBase58 } from './multibase.ts'

/** What an IPFS content identifier says. */
export interface Cid {
  readonly version: 0 | 1
  /** How the block is to be read: 0x55 raw bytes, 0x70 dag-pb (files and folders), 0x72 a peer's key, others. */
  readonly codec: number
  /** 0x12 SHA2-256, 0x00 the content itself, others. */
  readonly hashFunction: number
  readonly digest: Uint8Array
}

export const rawCodec = 0x55
export const dagPbCodec = 0x70
export const peerKeyCodec = 0x72
export const sha256Function = 0x12
export const identityFunction = 0x00

const maxCidLength = 256

/**
 * Reads an IPFS content identifier: a version 0 one (`Qm...`), or a version 1 one in base16, base32, base36, base58 or
 * base64url.
 *
 * Checked to the last byte, because it becomes part of a URL and decides that an answer may be kept for ever.
 * @returns absent when it is none.
 * @see https://github.com/multiformats/cid
 */
export function readCid(text: string): Cid | undefined {
  if (text.length > maxCidLength) return undefined
  if (text.startsWith('Qm')) {
    const multihash = text.length === 46 ? readMultihash(readBase58(text)) : undefined
    if (multihash?.hashFunction !== sha256Function || multihash.digest.length !== 32) return undefined
    return { version: 0, codec: dagPbCodec, ...multihash }
  }
  const bytes = fromMultibase(text)
  if (bytes === undefined) return undefined
  const read = createReader(bytes)
  const version = read.varint()
  const codec = read.varint()
  const multihash = readMultihash(read.rest())
  return version === 1 && codec >= 0 && multihash !== undefined
    ? { version: 1, codec, ...multihash }
    : undefined
}

/** A peer's id is the hash of its key, as base58 without a prefix: `12D3Koo...` and `Qm...`. */
export function isPeerId(text: string): boolean {
  return text.length <= maxCidLength && readMultihash(readBase58(text)) !== undefined
}

/** The same for every spelling of one address: codec and multihash in hex. */
export function canonicalCid({ codec, hashFunction, digest }: Cid): string {
  return `${codec.toString(16)}-${hashFunction.toString(16)}-${Buffer.from(digest).toString('hex')}`
}

/** Hash function, hash length, and exactly so many bytes. */
function readMultihash(bytes: Uint8Array | undefined): Pick<Cid, 'hashFunction' | 'digest'> | undefined {
  if (bytes === undefined) return undefined
  const read = createReader(bytes)
  const hashFunction = read.varint()
  const length = read.varint()
  const digest = read.rest()
  return hashFunction >= 0 && length === digest.length ? { hashFunction, digest } : undefined
}

function createReader(bytes: Uint8Array) {
  let at = 0
  return {
    /** @returns -1 where there is none, or one that is longer than it need be or has over 28 bits. */
    varint(): number {
      let value = 0
      for (let shift = 0; shift < 28; shift += 7) {
        const byte = bytes[at++]
        if (byte === undefined) return -1
        value |= (byte & 0x7f) << shift
        if (byte < 0x80) return byte === 0 && shift > 0 ? -1 : value
      }
      return -1
    },
    rest: () => bytes.subarray(at)
  }
}
