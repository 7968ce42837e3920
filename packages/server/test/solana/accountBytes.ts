import type { PublicKey } from '@solana/web3.js'

/** A token account with one unit. */
export function tokenAccountBytes(mint: PublicKey, owner: PublicKey, amount = 1n): Buffer {
  const data = Buffer.alloc(165)
  data.set(mint.toBytes(), 0)
  data.set(owner.toBytes(), 32)
  data.writeBigUInt64LE(amount, 64)
  data.writeUInt8(1, 108)
  return data
}

/** A mint without authorities. */
export function mintBytes({ supply, decimals }: { supply: bigint; decimals: number }): Buffer {
  const data = Buffer.alloc(82)
  data.writeBigUInt64LE(supply, 36)
  data.writeUInt8(decimals, 44)
  data.writeUInt8(1, 45)
  return data
}

type Extension = readonly [type: number, value: Uint8Array]

/** A Token-2022 mint of one whole unit with these extensions. */
export function extendedMintBytes(extensions: readonly Extension[]): Buffer {
  const parts: Uint8Array[] = [
    mintBytes({ supply: 1n, decimals: 0 }),
    Buffer.alloc(165 - 82),
    Buffer.from([1])
  ]
  for (const [type, value] of extensions) {
    const header = Buffer.alloc(4)
    header.writeUInt16LE(type, 0)
    header.writeUInt16LE(value.length, 2)
    parts.push(header, value)
  }
  return Buffer.concat(parts)
}

export function metadataPointer(to: Uint8Array): Extension {
  return [18, Buffer.concat([Buffer.alloc(32), to])]
}

/** Metadata without symbol, URI or additional fields. */
export function tokenMetadata(authority: Uint8Array, mint: Uint8Array, name: string): Extension {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(name.length)
  return [19, Buffer.concat([authority, mint, length, Buffer.from(name), Buffer.alloc(12)])]
}
