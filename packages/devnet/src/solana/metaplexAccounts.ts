import { PublicKey } from '@solana/web3.js'
import { createByteWriter } from './ByteWriter.ts'
import type { MetaplexMetadata } from './SolanaWorld.ts'

/** Metaplex Token Metadata. The program itself is not needed to read what it once wrote. */
export const metadataProgram = new PublicKey('metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s')

/** First byte of each kind of account. */
const accountKeys = { edition: 1, metadata: 4, masterEdition: 6 } as const

/** Address of the metadata account of a mint. */
export function metadataAddress(mint: string): string {
  return derive([new PublicKey(mint).toBytes()])
}

/** Address of the edition account of a mint, master or print. */
export function editionAddress(mint: string): string {
  return derive([new PublicKey(mint).toBytes(), Buffer.from('edition')])
}

function derive(seeds: Uint8Array[]): string {
  const all = [Buffer.from('metadata'), metadataProgram.toBytes(), ...seeds]
  return PublicKey.findProgramAddressSync(all, metadataProgram)[0].toBase58()
}

/**
 * Bytes of a metadata account as the program lays them out.
 *
 * @param size - 679 bytes as it was for years; 607 since the program gave unused room back, then with the flag of
 *   a paid fee in the last byte; less for an account that ends before its younger fields, which must be unset.
 */
export function encodeMetadata(metadata: MetaplexMetadata, size: number): Buffer {
  const writer = createByteWriter()
  writer
    .u8(accountKeys.metadata)
    .key(metadata.updateAuthority)
    .key(metadata.mint)
    .string(metadata.name, 32)
    .string(metadata.symbol, 10)
    .string(metadata.uri, 200)
    .u16(metadata.sellerFeeBasisPoints)
    .option(metadata.creators, creators =>
      writer.list(creators, ({ address, verified, share }) => writer.key(address).bool(verified).u8(share))
    )
    .bool(metadata.primarySaleHappened)
    .bool(metadata.isMutable)
    .option(metadata.editionNonce, nonce => writer.u8(nonce))
    .option(metadata.tokenStandard, standard => writer.u8(standard))
    .option(metadata.collection, ({ verified, key }) => writer.bool(verified).key(key))
    .option(metadata.uses, ({ useMethod, remaining, total }) =>
      writer.u8(useMethod).u64(remaining).u64(total)
    )
    // Both are enums with one variant in use.
    .option(metadata.collectionSize, collectionSize => writer.u8(0).u64(collectionSize))
    .option(metadata.programmableConfig, ({ ruleSet }) =>
      writer.u8(0).option(ruleSet, address => writer.key(address))
    )
  const account = writer.finish(Math.max(size, 607))
  if (size === 607) account[606] = 1
  if (account.subarray(size).some(byte => byte !== 0))
    throw new Error(`${size} bytes cut a field that is set`)
  return account.subarray(0, size)
}

/** Bytes of a master edition account. @param maxSupply - Prints allowed; absent for unlimited. */
export function encodeMasterEdition(supply: bigint, maxSupply?: bigint): Buffer {
  const writer = createByteWriter()
  writer.u8(accountKeys.masterEdition).u64(supply)
  return writer.option(maxSupply, limit => writer.u64(limit)).finish(282)
}

/** Bytes of a print edition account. @param parent - Address of the master edition account. */
export function encodeEdition(parent: string, edition: bigint): Buffer {
  return createByteWriter().u8(accountKeys.edition).key(parent).u64(edition).finish(241)
}
