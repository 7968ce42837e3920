import { PublicKey } from '@solana/web3.js'

/** Bytes in the order of Borsh: little-endian numbers, strings with a 32-bit length, options with a flag. */
export interface ByteWriter {
  u8(value: number): ByteWriter
  u16(value: number): ByteWriter
  u64(value: bigint): ByteWriter
  bool(value: boolean): ByteWriter
  /** @param address - Base58. */
  key(address: string): ByteWriter
  bytes(value: Uint8Array): ByteWriter
  /** @param padTo - Bytes to fill up with NULs, counted into the length, as Metaplex does. */
  string(value: string, padTo?: number): ByteWriter
  /** A flag, then the value if there is one. */
  option<T>(value: T | undefined, write: (value: T) => unknown): ByteWriter
  /** A 32-bit count, then the items. */
  list<T>(items: T[], write: (item: T) => unknown): ByteWriter
  /** @param size - Fills up with zeros. @throws When more has been written already. */
  finish(size?: number): Buffer
}

/** A writer with nothing written yet. */
export function createByteWriter(): ByteWriter {
  const parts: Uint8Array[] = []
  const number = (size: number, write: (buffer: Buffer) => unknown) => {
    const buffer = Buffer.alloc(size)
    write(buffer)
    parts.push(buffer)
    return writer
  }
  const writer: ByteWriter = {
    u8: value => number(1, buffer => buffer.writeUInt8(value)),
    u16: value => number(2, buffer => buffer.writeUInt16LE(value)),
    u64: value => number(8, buffer => buffer.writeBigUInt64LE(value)),
    bool: value => writer.u8(value ? 1 : 0),
    key: address => writer.bytes(new PublicKey(address).toBytes()),
    bytes: value => {
      parts.push(value)
      return writer
    },
    string: (value, padTo = 0) => {
      const text = Buffer.from(value, 'utf8')
      const length = Math.max(text.length, padTo)
      return number(4, buffer => buffer.writeUInt32LE(length))
        .bytes(text)
        .bytes(new Uint8Array(length - text.length))
    },
    option: (value, write) => {
      writer.bool(value !== undefined)
      if (value !== undefined) write(value)
      return writer
    },
    list: (items, write) => {
      number(4, buffer => buffer.writeUInt32LE(items.length))
      for (const item of items) write(item)
      return writer
    },
    finish: size => {
      const written = Buffer.concat(parts)
      if (size === undefined) return written
      if (written.length > size) throw new Error(`${written.length} bytes do not fit into ${size}`)
      return Buffer.concat([written, Buffer.alloc(size - written.length)])
    }
  }
  return writer
}
