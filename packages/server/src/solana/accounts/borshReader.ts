import { formatSolanaAddress } from '../../nodes/solana/solanaAddress.ts'

/** The reason why the bytes of one account were refused. */
export type RefusalReason =
  /** Another program owns the account. */
  | 'WRONG_OWNER'
  /** All zero, closed or not yet initialised. */
  | 'UNINITIALIZED'
  /** It says that it is another kind of account. */
  | 'WRONG_KIND'
  /** It describes another mint. */
  | 'WRONG_MINT'
  /** It ends before its own fields do. */
  | 'TRUNCATED'
  /** A flag, option or count has a value that the layout forbids. */
  | 'MALFORMED'

/**
 * One account's bytes were refused. The only thing the readers of this folder throw, so that one bad account never
 * takes its neighbours with it.
 */
export class AccountRefusal extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, detail: string) {
    super(`${reason}: ${detail}`)
    this.name = 'AccountRefusal'
    this.reason = reason
  }
}

/** Returns what `read` returns; `undefined` when it refuses the bytes. */
export function unlessRefused<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof AccountRefusal) return undefined
    throw error
  }
}

/** Bytes become text without ever failing: what is no UTF-8 shows as U+FFFD. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Reads little-endian borsh from the start of `bytes` on. Every read is checked against the end first and throws
 * {@link AccountRefusal} `TRUNCATED` rather than return a shorter value.
 */
export class BorshReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at: number

  constructor(bytes: Uint8Array, startAt = 0) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#at = startAt
  }

  get remaining(): number {
    return Math.max(0, this.#bytes.length - this.#at)
  }

  #take(size: number): number {
    if (size > this.remaining) {
      throw new AccountRefusal('TRUNCATED', `${size} bytes wanted at ${this.#at}, ${this.remaining} left`)
    }
    const at = this.#at
    this.#at += size
    return at
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1))
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2), true)
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true)
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true)
  }

  i16(): number {
    return this.#view.getInt16(this.#take(2), true)
  }

  i64(): bigint {
    return this.#view.getBigInt64(this.#take(8), true)
  }

  f64(): number {
    return this.#view.getFloat64(this.#take(8), true)
  }

  /** A view, not a copy. */
  bytes(size: number): Uint8Array {
    const at = this.#take(size)
    return this.#bytes.subarray(at, at + size)
  }

  bool(): boolean {
    const value = this.u8()
    if (value > 1) throw new AccountRefusal('MALFORMED', `bool of value ${value}`)
    return value === 1
  }

  /** A public key, base58. */
  address(): string {
    return formatSolanaAddress(this.bytes(32))
  }

  /** A public key; 32 zero bytes mean none. */
  optionalAddress(): string | undefined {
    const bytes = this.bytes(32)
    return bytes.some(byte => byte !== 0) ? formatSolanaAddress(bytes) : undefined
  }

  /**
   * Length-prefixed text. Programs pad short strings with NUL bytes up to a fixed size: the text ends at the first
   * NUL and is trimmed.
   */
  string(): string {
    const bytes = this.bytes(this.u32())
    const end = bytes.indexOf(0)
    return decoder.decode(end === -1 ? bytes : bytes.subarray(0, end)).trim()
  }

  /** Borsh Option: one byte 0 or 1, then the value. `undefined` stands for None. */
  option<T>(read: () => T): T | undefined {
    return this.bool() ? read() : undefined
  }
}
