import { createByteWriter } from './ByteWriter.ts'
import type { SolanaUiAmount, TokenMetadataExtension } from './SolanaWorld.ts'

/** One extension of a Token-2022 account as bytes. */
export type ExtensionBytes = readonly [type: number, value: Uint8Array]

const tokenAccountSize = 165

/** Bytes of a mint without authorities. @param extensions - Absent: a plain mint, as both programs have them. */
export function encodeMint(
  { supply, decimals }: { supply: bigint; decimals: number },
  extensions?: readonly ExtensionBytes[]
): Buffer {
  const base = createByteWriter().bytes(new Uint8Array(36)).u64(supply).u8(decimals).u8(1).finish(82)
  return extensions === undefined ? base : extend(base, 1, extensions)
}

/** Bytes of a token account. @param extensions - Absent: a plain one, as both programs have them. */
export function encodeTokenAccount(
  { mint, owner, amount, frozen }: { mint: string; owner: string; amount: bigint; frozen?: boolean },
  extensions?: readonly ExtensionBytes[]
): Buffer {
  const writer = createByteWriter().key(mint).key(owner).u64(amount).bytes(new Uint8Array(36))
  const base = writer.u8(frozen === true ? 2 : 1).finish(tokenAccountSize)
  return extensions === undefined ? base : extend(base, 2, extensions)
}

function extend(base: Buffer, accountType: number, extensions: readonly ExtensionBytes[]): Buffer {
  const writer = createByteWriter()
    .bytes(base)
    .bytes(new Uint8Array(tokenAccountSize - base.length))
  writer.u8(accountType)
  for (const [type, value] of extensions) writer.u16(type).u16(value.length).bytes(value)
  return writer.finish()
}

/** A metadata pointer that nobody may move. @param to - Absent: it points nowhere. */
export function metadataPointerBytes(to?: string): ExtensionBytes {
  const writer = createByteWriter().bytes(new Uint8Array(32))
  return [18, (to === undefined ? writer : writer.key(to)).finish(64)]
}

/** Metadata as a mint keeps it. */
export function tokenMetadataBytes(mint: string, metadata: TokenMetadataExtension): ExtensionBytes {
  return [19, encodeTokenMetadata(mint, metadata)]
}

/** How the amounts of a mint are to be shown; nobody may change it. */
export function uiAmountBytes({ scaledUiAmount, interestBearing }: SolanaUiAmount): ExtensionBytes[] {
  const extensions: ExtensionBytes[] = []
  if (scaledUiAmount !== undefined) {
    const value = Buffer.alloc(56)
    value.writeDoubleLE(scaledUiAmount.multiplier, 32)
    value.writeBigInt64LE(BigInt(scaledUiAmount.newMultiplierEffectiveTimestamp), 40)
    value.writeDoubleLE(scaledUiAmount.newMultiplier, 48)
    extensions.push([25, value])
  }
  if (interestBearing !== undefined) {
    const value = Buffer.alloc(52)
    value.writeBigInt64LE(BigInt(interestBearing.initializationTimestamp), 32)
    value.writeInt16LE(interestBearing.preUpdateAverageRate, 40)
    value.writeBigInt64LE(BigInt(interestBearing.lastUpdateTimestamp), 42)
    value.writeInt16LE(interestBearing.currentRate, 50)
    extensions.push([10, value])
  }
  return extensions
}

/** Bytes of an account of another program that keeps metadata by the token metadata interface. */
export function encodeInterfaceAccount(mint: string, metadata: TokenMetadataExtension): Buffer {
  const value = encodeTokenMetadata(mint, metadata)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(value.length)
  return Buffer.concat([Buffer.from([112, 132, 90, 90, 11, 88, 157, 87]), length, value])
}

function encodeTokenMetadata(mint: string, metadata: TokenMetadataExtension): Buffer {
  const { updateAuthority, name, symbol, uri, additionalMetadata } = metadata
  const writer = createByteWriter()
  const authorised =
    updateAuthority === undefined ? writer.bytes(new Uint8Array(32)) : writer.key(updateAuthority)
  return authorised
    .key(mint)
    .string(name)
    .string(symbol)
    .string(uri)
    .list(additionalMetadata, ([key, value]) => writer.string(key).string(value))
    .finish()
}
