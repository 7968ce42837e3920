import type { EvmDriver } from './evm/createEvmDriver.ts'
import type { EvmWorld } from './evm/EvmWorld.ts'
import { seedEvmWorld } from './evm/seedEvmWorld.ts'
import { type AnvilNode, type AnvilOptions, startAnvil } from './evm/startAnvil.ts'
import { type MetadataServer, startMetadataServer } from './metadata/startMetadataServer.ts'
import type { SolanaDriver } from './solana/createSolanaDriver.ts'
import type { SolanaWorld } from './solana/SolanaWorld.ts'
import { seedSolanaWorld } from './solana/seedSolanaWorld.ts'
import { type SurfpoolNode, startSurfpool, surfpoolUnsupportedReason } from './solana/startSurfpool.ts'

/** What is started and how it is seeded. */
export interface DevnetOptions {
  /** Of both worlds; default 1. */
  seed?: number
  /** Default true; options of the node instead of `true`. */
  evm?: boolean | Omit<AnvilOptions, 'mining'>
  /** Default true: where the platform has no Solana node, the devnet goes without and says why. */
  solana?: boolean
  /** Default 0, a free one. Metadata URIs, and with them transaction hashes, depend on it. */
  metadataPort?: number
  /** Whether transactions are left waiting in the EVM pool; default true. */
  pool?: boolean
}

/** The EVM half: the node, who drives it, and the truth about it. */
export interface EvmDevnet {
  node: AnvilNode
  driver: EvmDriver
  world: EvmWorld
}

/** The Solana half. */
export interface SolanaDevnet {
  node: SurfpoolNode
  driver: SolanaDriver
  world: SolanaWorld
}

/** Nodes that run, seeded with known worlds. */
export interface Devnet {
  metadata: MetadataServer
  /** Absent when it was not wanted. */
  evm?: EvmDevnet
  /** Absent when it was not wanted or cannot run here. */
  solana?: SolanaDevnet
  /** Why there is no Solana half although it was wanted. */
  solanaUnavailable?: string
  /** Ends every process and closes every port. May be called again. */
  stop(): Promise<void>
}

/**
 * Starts and seeds the nodes side by side, with a server for the metadata their NFTs point to.
 *
 * @throws {DevnetError} When a wanted node cannot be started or seeded; what was started is stopped again.
 */
export async function startDevnet(options: DevnetOptions = {}): Promise<Devnet> {
  const seed = options.seed ?? 1
  const metadata = await startMetadataServer({ port: options.metadataPort ?? 0 })
  const stops: (() => Promise<void>)[] = [() => metadata.stop()]
  const stop = async () => {
    await Promise.all(stops.map(each => each()))
  }

  async function startEvm(): Promise<EvmDevnet | undefined> {
    if (options.evm === false) return undefined
    const node = await startAnvil(typeof options.evm === 'object' ? options.evm : {})
    stops.push(() => node.stop())
    const { genesisTimestampSeconds } = node
    const pool = options.pool ?? true
    const driver = await seedEvmWorld(node.rpcUrl, { seed, metadata, genesisTimestampSeconds, pool })
    return { node, driver, world: driver.world }
  }

  async function startSolana(): Promise<SolanaDevnet | undefined> {
    if (options.solana === false || surfpoolUnsupportedReason() !== undefined) return undefined
    const node = await startSurfpool()
    stops.push(() => node.stop())
    const driver = await seedSolanaWorld(node, { seed, metadata })
    return { node, driver, world: driver.world }
  }

  // Both are waited for even if one fails, so that whatever was started is known and can be stopped.
  const [evm, solana] = await Promise.allSettled([startEvm(), startSolana()])
  if (evm.status === 'rejected' || solana.status === 'rejected') {
    await stop()
    throw evm.status === 'rejected' ? evm.reason : (solana as PromiseRejectedResult).reason
  }
  const devnet: Devnet = { metadata, stop }
  if (evm.value !== undefined) devnet.evm = evm.value
  if (solana.value !== undefined) devnet.solana = solana.value
  const unsupported = surfpoolUnsupportedReason()
  if (options.solana !== false && unsupported !== undefined) devnet.solanaUnavailable = unsupported
  return devnet
}
