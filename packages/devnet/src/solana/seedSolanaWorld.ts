import { createUnservedMetadata, type MetadataHost } from '../metadata/MetadataHost.ts'
import { createRandom } from '../platform/createRandom.ts'
import { createSolanaDriver, type SolanaDriver } from './createSolanaDriver.ts'
import { playCollectibleScene } from './story/playCollectibleScene.ts'
import { playDamageScene } from './story/playDamageScene.ts'
import { playExtensionScene } from './story/playExtensionScene.ts'
import { playFungibleScene } from './story/playFungibleScene.ts'
import { playGenerationScene } from './story/playGenerationScene.ts'
import { playHistoryScene } from './story/playHistoryScene.ts'
import { createSolanaStage } from './story/SolanaStage.ts'

/** What varies between seeded worlds. */
export interface SolanaSeedOptions {
  /** Default 1. Varies keys and amounts; the story itself stays. */
  seed?: number
  /** Where metadata URIs point to; default a host that does not exist. */
  metadata?: MetadataHost
  /** By which the service knows the cluster; default 103. */
  chainId?: number
}

/**
 * Fills a fresh surfpool with known holdings.
 *
 * Mints, transfers and freezing are real transactions of the real token programs. Metaplex accounts are written
 * as bytes where the program would have put them, since the program itself is not there.
 *
 * `alice`, `bob` and `carol` hold something of the usual kinds, `erin` a token for everything that Token-2022 can do,
 * `frank` metadata of every age and in every place, `grace` accounts that nobody can read beside sound ones. `heidi` has a
 * history of everything that can befall a wallet, with `ivan` and `judy`. `dora` has lamports beyond 2^53 and nothing
 * else, `nobody` was never funded. The same seed and metadata origin give the same addresses.
 *
 * @returns The driver, its `world` being the truth.
 */
export async function seedSolanaWorld(
  node: { rpcUrl: string; wsUrl: string },
  { seed = 1, metadata = createUnservedMetadata(), chainId = 103 }: SolanaSeedOptions = {}
): Promise<SolanaDriver> {
  const driver = await createSolanaDriver(node.rpcUrl, node.wsUrl, seed, chainId)
  const stage = createSolanaStage(driver, metadata, createRandom(seed))
  await driver.setLamports('alice', 1_500_000_000n + BigInt(stage.random.below(1_000_000)))
  await driver.setLamports('bob', 2_000_000_001n)
  await driver.setLamports('carol', 890_880n)
  await driver.setLamports('dora', 2n ** 64n - 3n)
  await driver.setLamports('nobody', 0n)
  await driver.setLamports('erin', 10_000_000n)
  await driver.setLamports('frank', 20_000_000n)
  await driver.setLamports('grace', 30_000_000n)
  await playFungibleScene(stage)
  await playCollectibleScene(stage)
  await playExtensionScene(stage)
  await playGenerationScene(stage)
  await playDamageScene(stage)
  await playHistoryScene(stage)
  return driver
}
