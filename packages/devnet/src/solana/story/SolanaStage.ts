import type { MetadataHost } from '../../metadata/MetadataHost.ts'
import type { Random } from '../../platform/createRandom.ts'
import type { SolanaDriver } from '../createSolanaDriver.ts'
import { encodeMetadata, metadataAddress, metadataProgram } from '../metaplexAccounts.ts'
import type { MetaplexMetadata } from '../SolanaWorld.ts'
import { solanaMint } from '../solanaTruth.ts'

/** What every scene of the Solana story works with. */
export interface SolanaStage {
  driver: SolanaDriver
  metadata: MetadataHost
  random: Random
  /** Writes the Metaplex account of a mint and notes it; members left out get their usual values. */
  writeMetadata(
    label: string,
    size: number,
    metadata: Pick<MetaplexMetadata, 'name' | 'symbol' | 'uri'> & Partial<MetaplexMetadata>
  ): Promise<void>
}

/** Puts the stage together. */
export function createSolanaStage(driver: SolanaDriver, metadata: MetadataHost, random: Random): SolanaStage {
  return {
    ...{ driver, metadata, random },
    async writeMetadata(label, size, given) {
      const mint = solanaMint(driver.world, label)
      const full: MetaplexMetadata = {
        updateAuthority: driver.payer.toBase58(),
        mint: mint.address,
        sellerFeeBasisPoints: 0,
        primarySaleHappened: false,
        isMutable: false,
        ...given
      }
      await driver.setAccount(metadataAddress(mint.address), encodeMetadata(full, size), metadataProgram)
      mint.metaplex = full
      mint.metaplexSize = size
    }
  }
}
