import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { BoundedMap } from '../../platform/boundedMap.ts'

/** A content coding that answers are compressed with. */
export type Coding = 'zstd' | 'gzip'

/** The coding that a caller accepts best. */
export interface ChosenCoding {
  readonly coding: Coding
  /** The caller does not take a body as it is (`identity;q=0`). */
  readonly isRequired: boolean
}

/** No client names so many; a longer header is not read. */
const maxHeaderLength = 500
const elementPattern =
  /^[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/i

/**
 * Makes the choice of a coding by `Accept-Encoding` (RFC 9110, 12.5.3).
 *
 * @param codings - those that this process can write, the preferred one first.
 * @returns chooses the coding of the highest weight; `undefined`: none, because the caller names none of them, weights none higher than a
 *   body as it is, or sends what is no such list.
 */
export function createCodingChoice(
  codings: readonly Coding[]
): (header: string | undefined) => ChosenCoding | undefined {
  // Few clients differ in it.
  const chosen = new BoundedMap<string, { readonly choice: ChosenCoding | undefined }>(200)
  return header => {
    if (header === undefined || header.length > maxHeaderLength) return undefined
    const before = chosen.get(header)
    if (before !== undefined) return before.choice
    const choice = chooseCoding(codings, header)
    chosen.set(header, { choice })
    return choice
  }
}

function chooseCoding(codings: readonly Coding[], header: string): ChosenCoding | undefined {
  const weights = new Map<string, number>()
  for (const element of header.split(',')) {
    if (element.trim() === '') continue
    const [, name, weight = '1'] = elementPattern.exec(element) ?? []
    if (name === undefined) return undefined
    const coding = name.toLowerCase().replace(/^x-gzip$/, 'gzip')
    // Of one that is named twice the lower weight counts.
    weights.set(coding, Math.min(Number(weight), weights.get(coding) ?? 1))
  }
  const others = weights.get('*')
  const weightOf = (coding: string) => weights.get(coding) ?? others ?? 0
  // Acceptable unless it is excluded; preferred only where it is named.
  const identity = weights.get('identity') ?? (others === 0 ? 0 : Number.MIN_VALUE)
  let best: Coding | undefined
  for (const coding of codings) {
    if (weightOf(coding) > (best === undefined ? 0 : weightOf(best))) best = coding
  }
  if (best === undefined || weightOf(best) < identity) return undefined
  return { coding: best, isRequired: identity === 0 }
}

/** A text that is compressed once, and then put between others. */
export interface CodedText {
  /** Returns `before`, the text and `after`, which are short, as one compressed body. */
  between(before: string, after: string): readonly Buffer[]
}

/** The codings of this Node, the preferred one first; zstd came with 22.15. */
export const codings: readonly Coding[] = 'zstdCompress' in zlib ? ['zstd', 'gzip'] : ['gzip']

/** Higher levels take up to twice the processor time, for a twentieth of the bytes. */
export const zstdOptions = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } }
export const gzipOptions = { level: 3 }

/** Maximum of bytes of a text: the window that its zstd frame asks of a reader. */
const windowLog = 20
const maxBytes = 2 ** windowLog

/**
 * Compresses a text on another thread. What is put around it is written without compression: the id of a call differs from answer to
 * answer, and the text does not.
 *
 * @param bytes - not empty.
 * @throws {RangeError} it is longer than a reader's window.
 */
export async function codeText(coding: Coding, bytes: Buffer): Promise<CodedText> {
  if (bytes.length > maxBytes) throw new RangeError(`a text of ${bytes.length} bytes is too long to be coded`)
  return coding === 'zstd' ? zstdText(bytes) : gzipText(bytes)
}

/** A gzip member (RFC 1952): stored blocks around the text's deflated ones. */
async function gzipText(bytes: Buffer): Promise<CodedText> {
  // A full flush ends at a byte, and without the mark of the last block.
  const options = { ...gzipOptions, finishFlush: zlib.constants.Z_FULL_FLUSH }
  const deflated = await promisify<zlib.InputType, zlib.ZlibOptions, Buffer>(zlib.deflateRaw)(bytes, options)
  const textSum = zlib.crc32(bytes)
  const shift = shiftOf(bytes.length)
  return {
    between(before, after) {
      const sum = zlib.crc32(after, (multiply(shift, zlib.crc32(before)) ^ textSum) >>> 0)
      const trailer = Buffer.alloc(8)
      trailer.writeUInt32LE(sum, 0)
      trailer.writeUInt32LE(Buffer.byteLength(before) + bytes.length + Buffer.byteLength(after), 4)
      return [
        Buffer.concat([gzipHead, storedBlock(before, false)]),
        deflated,
        Buffer.concat([storedBlock(after, true), trailer])
      ]
    }
  }
}

/** Deflate, no flags, no time, any level, Unix. */
const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])

/** A block of deflate without compression (RFC 1951, 3.2.4): up to 64 KiB. */
function storedBlock(text: string, isLast: boolean): Buffer {
  const length = Buffer.byteLength(text)
  const block = Buffer.alloc(5 + length)
  block[0] = isLast ? 1 : 0
  block.writeUInt16LE(length, 1)
  block.writeUInt16LE(~length & 0xffff, 3)
  block.write(text, 5)
  return block
}

/**
 * The factor by which a CRC-32 is multiplied when so many bytes follow: x to the power of their bits, in polynomials over GF(2)
 * modulo that of CRC-32, bits reflected.
 */
function shiftOf(bytes: number): number {
  let power = 1 << 31
  let square = 1 << 23
  for (let left = bytes; left > 0; left >>>= 1) {
    if (left & 1) power = multiply(square, power)
    square = multiply(square, square)
  }
  return power
}

function multiply(one: number, other: number): number {
  let product = 0
  let shifted = other
  for (let bit = 1 << 31; bit !== 0; bit >>>= 1) {
    if (one & bit) product ^= shifted
    shifted = shifted & 1 ? (shifted >>> 1) ^ 0xedb88320 : shifted >>> 1
  }
  return product
}

/** A zstd frame (RFC 8878): raw blocks around the text's compressed ones. */
async function zstdText(bytes: Buffer): Promise<CodedText> {
  const frame = await promisify<zlib.InputType, zlib.ZstdOptions, Buffer>(zlib.zstdCompress)(
    bytes,
    zstdOptions
  )
  const blocks = frame.subarray(frameHeaderLength(frame))
  clearLastBlock(blocks)
  return {
    between: (before, after) => [
      Buffer.concat([zstdHead, rawBlock(before, false)]),
      blocks,
      rawBlock(after, true)
    ]
  }
}

/** Magic number; no checksum, no size; the window. */
const zstdHead = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3])

function frameHeaderLength(frame: Buffer): number {
  const flags = frame[4] ?? 0
  const isSingleSegment = (flags & 0x20) !== 0
  if ((flags & 0x07) !== 0) throw new Error('the frame has a checksum or a dictionary')
  const size = [isSingleSegment ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0
  return 5 + (isSingleSegment ? 0 : 1) + size
}

function clearLastBlock(blocks: Buffer): void {
  for (let at = 0; ; ) {
    const header = blocks.readUIntLE(at, 3)
    const [isLast, type, size] = [header & 1, (header >> 1) & 3, header >> 3]
    // A block of one repeated byte holds that byte.
    const next = at + 3 + (type === 1 ? 1 : size)
    if (isLast === 1) {
      blocks.writeUIntLE(header - 1, at, 3)
      if (next !== blocks.length) throw new Error('something follows the last block of the frame')
      return
    }
    at = next
  }
}

/** A block without compression: up to 128 KiB. */
function rawBlock(text: string, isLast: boolean): Buffer {
  const length = Buffer.byteLength(text)
  const block = Buffer.alloc(3 + length)
  block.writeUIntLE((length << 3) | (isLast ? 1 : 0), 0, 3)
  block.write(text, 3)
  return block
}
