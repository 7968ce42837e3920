/**
 * Chains for tests and trials: nodes of EVM and Solana, seeded with known worlds and their ground truth, and a server over
 * them.
 *
 * @packageDocumentation
 */
export { DevnetError, type DevnetErrorReason } from './DevnetError.ts'
export {
  createEvmDriver,
  type EvmDriver,
  type MineOptions,
  type ReorgOptions
} from './evm/createEvmDriver.ts'
export { developmentPhrase } from './evm/evmAccounts.ts'
export { createContract, createEvmCalls, type EvmCall, type EvmCalls } from './evm/evmIntents.ts'
export * from './evm/evmTruth.ts'
export type * from './evm/EvmWorld.ts'
export { createEmptyWorld, seedEvmWorld, type EvmSeedOptions } from './evm/seedEvmWorld.ts'
export type { EvmIntent } from './evm/signIntent.ts'
export { startAnvil, type AnvilNode, type AnvilOptions } from './evm/startAnvil.ts'
export {
  createUnservedMetadata,
  putImage,
  putJson,
  type MetadataDocument,
  type MetadataHost
} from './metadata/MetadataHost.ts'
export { startMetadataServer, type MetadataServer } from './metadata/startMetadataServer.ts'
export {
  coreProgram,
  encodeCoreAsset,
  encodeCoreCollection,
  type CoreAsset,
  type CoreCollection,
  type CorePlugin
} from './solana/coreAccounts.ts'
export { createSolanaDriver, type MintIntent, type SolanaDriver } from './solana/createSolanaDriver.ts'
export {
  editionAddress,
  encodeMetadata,
  metadataAddress,
  metadataProgram
} from './solana/metaplexAccounts.ts'
export { mintExtensions, type MintExtension } from './solana/mintExtensions.ts'
export { seedSolanaWorld, type SolanaSeedOptions } from './solana/seedSolanaWorld.ts'
export * from './solana/SolanaWorld.ts'
export * from './solana/solanaTruth.ts'
export { startSurfpool, surfpoolUnsupportedReason, type SurfpoolNode } from './solana/startSurfpool.ts'
export {
  startDevnet,
  type Devnet,
  type DevnetOptions,
  type EvmDevnet,
  type SolanaDevnet
} from './startDevnet.ts'
export { expectedEvmHoldings, expectedRecord, type ExpectedRecord } from './wire/expectedEvmAnswers.ts'
export { expectedSolanaHoldings, type ExpectedSolanaHoldings } from './wire/expectedSolanaHoldings.ts'
