import { formatSolanaAddress, METAPLEX_PROGRAM, requireAddress } from '../../nodes/solana/solanaAddress.ts'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { createYielder } from '../../platform/concurrency/pause.ts'
import { deriveProgramAddress } from './deriveProgramAddress.ts'

/** Finds the accounts in which Metaplex keeps the metadata of mints. */
export type MetadataAddresses = ReturnType<typeof createMetadataAddresses>

/** Addresses derived in one turn of the event loop: some 1 ms. */
const ADDRESSES_PER_TURN = 8

const metaplex = requireAddress(METAPLEX_PROGRAM)
const metadataSeed = new TextEncoder().encode('metadata')

/** @param options.maxKept - addresses kept for the next account that holds the same mint; each takes some 300 bytes. */
export function createMetadataAddresses({ maxKept = 20_000 } = {}) {
  const kept = new BoundedMap<string, string>(maxKept)
  /** One after the other: several at a time would each take a part of every turn of the event loop. */
  let last: Promise<unknown> = Promise.resolve()

  async function deriveAll(mints: readonly string[]): Promise<readonly string[]> {
    const addresses: string[] = []
    const checkYield = createYielder(ADDRESSES_PER_TURN, 0)
    for (const mint of mints) {
      let address = kept.get(mint)
      if (address === undefined) {
        address = deriveMetadataAddress(mint)
        kept.set(mint, address)
        const pause = checkYield()
        if (pause !== undefined) await pause
      }
      addresses.push(address)
    }
    return addresses
  }

  return {
    /**
     * @param mints - base58 of 32 bytes each.
     * @returns one address per mint, in their order.
     * @remarks Some 150 us per mint that was not asked for lately; the event loop runs other work in between.
     */
    find(mints: readonly string[]): Promise<readonly string[]> {
      const found = last.then(() => deriveAll(mints))
      last = found.catch(() => {})
      return found
    }
  }
}

/** Hashes and tests curve points. */
function deriveMetadataAddress(mint: string): string {
  return formatSolanaAddress(deriveProgramAddress([metadataSeed, metaplex, requireAddress(mint)], metaplex))
}
