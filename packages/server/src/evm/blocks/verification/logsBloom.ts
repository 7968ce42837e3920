import type { Hex } from '@chain-data/index'
import { digitValues, isAbsent, readBytes } from '../../../nodes/evm/rawFields.ts'
import { createKeccakState, permuteKeccak } from '../../../platform/permuteKeccak.gen.ts'

/** `0x` and the digits of 2048 bits. */
const textLength = 2 + 512
/** Bloom of most receipts, since most transactions log nothing. */
const emptyText = `0x${'0'.repeat(512)}`
const digits = Buffer.from('0123456789abcdef')

/** The check that a stated bloom breaks. */
export type BloomFault = 'emptyBloom' | 'logsBloom'

/** The bloom of logs, kept as the text that a node writes, so that it is compared without decoding. */
export class LogsBloom {
  readonly #text = Buffer.from(emptyText)
  readonly #whole: LogsBloom | undefined
  #isEmpty = true

  /** @param whole - the bloom of the block, to which every value is added too. */
  constructor(whole?: LogsBloom) {
    this.#whole = whole
  }

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

  /** Adds a value as a node wrote it, if it was hashed before and so is well-formed. @returns `false` if it was not. */
  addKnown(value: unknown, digitCount: number): boolean {
    if (typeof value !== 'string' || value.length !== 2 + digitCount) return false
    const slot = slotOf(value)
    if (known[slot] !== value) return false
    this.#setBits(3 * slot)
    return true
  }

  clear(): void {
    if (!this.#isEmpty) this.#text.fill('0', 2)
    this.#isEmpty = true
  }

  /**
   * Compares a bloom as a node writes it. Any number of zeros is the empty bloom: some nodes write `0x0`.
   * @returns `undefined` where it is equal, or the node has none; `0x` counts as none.
   * @throws {NodeContradictionError} when it is not hex.
   */
  compare(stated: unknown, where: string): BloomFault | undefined {
    if (stated === emptyText) return this.#isEmpty ? undefined : 'emptyBloom'
    if (isAbsent(stated) || stated === '0x') return undefined
    const text = this.#text.toString('latin1')
    if (stated === text) return undefined
    if (typeof stated === 'string' && /^0x0+$/i.test(stated)) return this.#isEmpty ? undefined : 'emptyBloom'
    return readBytes(stated, where, 'logsBloom') === text ? undefined : 'logsBloom'
  }

  #setBits(slot: number): void {
    const text = this.#text
    for (let i = slot; i < slot + 3; i++) {
      const position = positions[i] ?? 0
      const at = textLength - 1 - (position >> 2)
      const value = (digitValues[text[at] ?? 0] ?? 0) | (1 << (position & 3))
      text[at] = digits[value] ?? 0
    }
    this.#isEmpty = false
    if (this.#whole !== undefined) this.#whole.#setBits(slot)
  }
}

/**
 * Caches the bits of values for all callers: the same tokens, event signatures and accounts come back in block after block,
 * and hashing is the cost of a bloom. Each value has one slot, which the next value of that slot overwrites.
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

/** Words that one permutation of Keccak-256 takes. */
const blockWords = 34
const state = createKeccakState()

/** @param value - whole words, fewer than 34. @see https://keccak.team/files/Keccak-reference-3.0.pdf */
function hashInto(at: number, value: Hex): void {
  state.fill(0)
  const end = (value.length - 2) >> 3
  for (let word = 0; word < end; word++) {
    let bytes = 0
    // The first byte is the lowest, and of its digits the first is the higher one.
    for (let i = 0; i < 8; i++) {
      bytes |= (digitValues[value.charCodeAt(2 + 8 * word + i)] ?? 0) << (4 * (i ^ 1))
    }
    state[word] = bytes
  }
  state[end] = 1
  state[blockWords - 1] = (state[blockWords - 1] ?? 0) | 0x8000_0000
  permuteKeccak(state)
  const [first = 0, second = 0] = state
  positions[at] = positionIn(first)
  positions[at + 1] = positionIn(first >>> 16)
  positions[at + 2] = positionIn(second)
}

/** Reads the lower two bytes of a word in reverse order; 11 bits of them are the position. */
function positionIn(word: number): number {
  return ((word & 0x07) << 8) | ((word >>> 8) & 0xff)
}
