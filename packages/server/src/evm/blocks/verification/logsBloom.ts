import type { Hex } from '../../../model/evm.ts'
import { isAbsent, readBytes } from '../../../nodes/evm/rawFields.ts'
import { createKeccakState, permuteKeccak } from '../../../platform/permuteKeccak.ts'

const bloomBytes = 256
/** What most receipts say, since most transactions log nothing. */
const emptyText = `0x${'00'.repeat(bloomBytes)}`

/** How a stated bloom differs from that of the logs. */
export type BloomFault = 'emptyBloom' | 'logsBloom'

/** The bloom of logs: 2048 bits. */
export class LogsBloom {
  /** The most significant byte first. */
  readonly #bits = Buffer.alloc(bloomBytes)
  readonly #words = new Int32Array(this.#bits.buffer, this.#bits.byteOffset, bloomBytes / 4)
  #isEmpty = true

  /**
   * Adds the address or a topic of a log: each sets the three bits that the first three pairs of bytes of its hash name.
   * @param value - 20 or 32 bytes, lower case.
   * @see Ethereum Yellow Paper, section 4.3.1 (M3:2048)
   */
  add(value: Hex): void {
    const slot = slotOf(value)
    if (known[slot] !== value) {
      hashInto(3 * slot, value)
      known[slot] = value
    }
    this.#setBits(3 * slot)
  }

  /** Adds a value as a node wrote it, if it is remembered, and so known to be well-formed. @returns false: it is not. */
  addKnown(value: unknown, digits: number): boolean {
    if (typeof value !== 'string' || value.length !== 2 + digits) return false
    const slot = slotOf(value)
    if (known[slot] !== value) return false
    this.#setBits(3 * slot)
    return true
  }

  #setBits(at: number): void {
    for (let i = at; i < at + 3; i++) {
      const position = positions[i] ?? 0
      const byte = bloomBytes - 1 - (position >> 3)
      this.#bits[byte] = (this.#bits[byte] ?? 0) | (1 << (position & 7))
    }
    this.#isEmpty = false
  }

  /** Adds everything that is in another one. */
  merge(other: LogsBloom): void {
    if (other.#isEmpty) return
    for (let i = 0; i < bloomBytes / 4; i++) this.#words[i] = (this.#words[i] ?? 0) | (other.#words[i] ?? 0)
    this.#isEmpty = false
  }

  clear(): void {
    if (!this.#isEmpty) this.#bits.fill(0)
    this.#isEmpty = true
  }

  /**
   * Compares a bloom as a node writes it. Any number of zeros stands for the empty one: some nodes write `0x0`.
   * @returns `undefined` where it is this one, or the node has none; `0x` counts as none.
   * @throws {NodeContradictionError} when it is not hex.
   */
  compare(stated: unknown, where: string): BloomFault | undefined {
    if (isAbsent(stated) || stated === '0x') return undefined
    if (stated === emptyText || (typeof stated === 'string' && /^0x0+$/i.test(stated))) {
      return this.#isEmpty ? undefined : 'emptyBloom'
    }
    const text = `0x${this.#bits.toString('hex')}`
    return stated === text || readBytes(stated, where, 'logsBloom') === text ? undefined : 'logsBloom'
  }
}

/**
 * A memo of a pure function, hence shared by all callers: the same tokens, event signatures and accounts come back in block
 * after block, and hashing is what a bloom costs. Each value has one slot, which the next value with that slot takes over.
 */
const slots = 32_768
const known: Hex[] = new Array(slots).fill('0x')
/** Three bits of a bloom, from 0 to 2047, for each slot. */
const positions = new Uint16Array(3 * slots)
const slotDigits = 8

function slotOf(value: string): number {
  let mixed = 0
  for (let i = value.length - slotDigits; i < value.length; i++) {
    mixed = Math.imul(mixed, 31) + (value.charCodeAt(i) | 0)
  }
  return (mixed ^ (mixed >>> 15)) & (slots - 1)
}

/** Bytes that one permutation of Keccak-256 takes. */
const blockBytes = 136
const state = createKeccakState()
const block = Buffer.alloc(blockBytes)

/** @param value - fewer than 136 bytes. @see https://keccak.team/files/Keccak-reference-3.0.pdf */
function hashInto(at: number, value: Hex): void {
  block.fill(0)
  const length = block.write(value.slice(2), 'hex')
  block[length] = 1
  block[blockBytes - 1] = (block[blockBytes - 1] ?? 0) | 0x80
  state.fill(0)
  for (let i = 0; i < blockBytes / 4; i++) state[i] = block.readInt32LE(4 * i)
  permuteKeccak(state)
  const [first = 0, second = 0] = state
  positions[at] = positionIn(first)
  positions[at + 1] = positionIn(first >>> 16)
  positions[at + 2] = positionIn(second)
}

/** The lower two bytes of a word, read the other way round, of which 11 bits count. */
function positionIn(word: number): number {
  return ((word & 0x07) << 8) | ((word >>> 8) & 0xff)
}
