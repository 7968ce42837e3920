import { DevnetError } from '../DevnetError.ts'
import { createUnservedMetadata, type MetadataHost } from '../metadata/MetadataHost.ts'
import { createRandom } from '../platform/createRandom.ts'
import { createJsonRpc } from '../platform/jsonRpc.ts'
import { createEvmDriver, type EvmDriver } from './createEvmDriver.ts'
import type { EvmWorld } from './EvmWorld.ts'
import { createEvmAccounts } from './evmAccounts.ts'
import { createEvmCalls } from './evmIntents.ts'
import { evmAccount } from './evmTruth.ts'
import { defaultGenesisTimestampSeconds } from './startAnvil.ts'
import { playContractScene } from './story/playContractScene.ts'
import { playCrowdScene } from './story/playCrowdScene.ts'
import { playFailureScene } from './story/playFailureScene.ts'
import { playMultiTokenScene } from './story/playMultiTokenScene.ts'
import { playNativeScene } from './story/playNativeScene.ts'
import { playNftScene } from './story/playNftScene.ts'
import { playPoolScene } from './story/playPoolScene.ts'
import { playTokenScene } from './story/playTokenScene.ts'
import type { Stage } from './story/Stage.ts'

/** What varies between seeded worlds. */
export interface EvmSeedOptions {
  /** Default 1. Varies amounts and the everyday traffic; the story itself stays. */
  seed?: number
  /** Where metadata URIs point to; default a host that does not exist. */
  metadata?: MetadataHost
  /** Of the node; default as {@link startAnvil}. */
  genesisTimestampSeconds?: number
  /** Default true. False leaves the pool empty. */
  pool?: boolean
}

/**
 * Plays a known story on a fresh anvil that mines on demand, by real transactions only.
 *
 * Transaction types 0 to 4; ERC-20, ERC-721 and ERC-1155; creations, failures, internal transfers; at the end
 * transactions that wait in the pool. About fifty blocks.
 *
 * The same seed, chain id and metadata origin give the same transactions, hash for hash.
 *
 * @returns The driver, its `world` being the truth about the chain.
 * @throws {DevnetError} `MISUSE` when the chain already has blocks.
 */
export async function seedEvmWorld(rpcUrl: string, options: EvmSeedOptions = {}): Promise<EvmDriver> {
  const driver = createEvmDriver(rpcUrl, await createEmptyWorld(rpcUrl, options.genesisTimestampSeconds))
  const stage: Stage = {
    driver,
    calls: createEvmCalls(driver.world),
    metadata: options.metadata ?? createUnservedMetadata(),
    random: createRandom(options.seed ?? 1),
    addressOf: name => evmAccount(driver.world, name).address
  }
  await playNativeScene(stage)
  await playContractScene(stage)
  await playTokenScene(stage)
  await playNftScene(stage)
  await playMultiTokenScene(stage)
  await playFailureScene(stage)
  await playCrowdScene(stage)
  if (options.pool ?? true) await playPoolScene(stage)
  return driver
}

/**
 * A driver over a fresh chain on which nothing has happened yet: for stories of one's own.
 *
 * @throws {DevnetError} `MISUSE` when the chain already has blocks.
 */
export async function createEmptyWorld(
  rpcUrl: string,
  genesisTimestampSeconds = defaultGenesisTimestampSeconds
): Promise<EvmWorld> {
  const rpc = createJsonRpc(rpcUrl)
  const head = Number(await rpc('eth_blockNumber'))
  if (head !== 0) throw new DevnetError('MISUSE', `the chain has ${head} blocks, a fresh one was expected`)
  return {
    chainId: Number(await rpc('eth_chainId')),
    accounts: createEvmAccounts(),
    contracts: {},
    blocks: [{ number: 0, timestampSeconds: genesisTimestampSeconds, transactionHashes: [] }],
    transactions: [],
    documents: new Map()
  }
}
