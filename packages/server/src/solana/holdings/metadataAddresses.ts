import { setImmediate as nextTurn } from 'node:timers/promises'
import { METAPLEX_PROGRAM, parseSolanaAddress } from '../../nodes/solana/solanaAddress.ts'
import { findProgramAddress } from '../../nodes/solana/web3.ts'
import { BoundedMap } from '../../platform/boundedMap.ts'

/** Where Metaplex keeps the metadata of mints. */
export interface MetadataAddresses {
  /**
   * @param mints - base58 of 32 bytes each.
   * @returns one address per mint, in their order.
   * @remarks Some 150 us per mint that was not asked for lately; the event loop runs other work in between.
   */
  find(mints: readonly string[]): Promise<readonly string[]>
}

export interface MetadataAddressesOptions {
  /** Addresses kept for the next account that holds the same mint; each takes some 300 bytes. Default 20,000. */
  readonly maxKept?: number
}

/** Addresses derived in one turn of the event loop: some 1 ms. */
const ADDRESSES_PER_TURN = 8

const METADATA_SEED = new TextEncoder().encode('metadata')

export function createMetadataAddresses({
  maxKept = 20_000
}: MetadataAddressesOptions = {}): MetadataAddresses {
  const kept = new BoundedMap<string, string>(maxKept)
  /** One after the other: several at a time would each take a part of every turn of the event loop. */
  let last: Promise<unknown> = Promise.resolve()

  async function deriveAll(mints: readonly string[]): Promise<readonly string[]> {
    const addresses: string[] = []
    let derived = 0
    for (const mint of mints) {
      let address = kept.get(mint)
      if (address === undefined) {
        address = deriveMetadataAddress(mint)
        kept.set(mint, address)
        if (++derived % ADDRESSES_PER_TURN === 0) await nextTurn()
      }
      addresses.push(address)
    }
    return addresses
  }

  return {
    find(mints) {
      const found = last.then(() => deriveAll(mints))
      last = found.catch(() => {})
      return found
    }
  }
}

function deriveMetadataAddress(mint: string): string {
  return findProgramAddress([METADATA_SEED, bytesOf(METAPLEX_PROGRAM), bytesOf(mint)], METAPLEX_PROGRAM)
}

function bytesOf(address: string): Uint8Array {
  const bytes = parseSolanaAddress(address)
  if (bytes === undefined) throw new RangeError('not an address')
  return bytes
}
