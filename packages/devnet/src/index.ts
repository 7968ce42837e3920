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
export type * from './evm/EvmWorld.ts'
export { developmentPhrase } from './evm/evmAccounts.ts'
export { createContract, createEvmCalls, type EvmCall, type EvmCalls } from './evm/evmIntents.ts'
export * from './evm/evmTruth.ts'
export { createEmptyWorld, type EvmSeedOptions, seedEvmWorld } from './evm/seedEvmWorld.ts'
export type { EvmIntent } from './evm/signIntent.ts'
export { type AnvilNode, type AnvilOptions, startAnvil } from './evm/startAnvil.ts'
export {
  createUnservedMetadata,
  type MetadataDocument,
  type MetadataHost,
  putImage,
  putJson
} from './metadata/MetadataHost.ts'
export { type MetadataServer, startMetadataServer } from './metadata/startMetadataServer.ts'
export {
  type CoreAsset,
  type CoreCollection,
  type CorePlugin,
  coreProgram,
  encodeCoreAsset,
  encodeCoreCollection
} from './solana/coreAccounts.ts'
export {
  createSolanaDriver,
  type SendOptions,
  type SolanaDriver
} from './solana/createSolanaDriver.ts'
export type { MintIntent } from './solana/createSolanaTokens.ts'
export {
  editionAddress,
  encodeMetadata,
  metadataAddress,
  metadataProgram
} from './solana/metaplexAccounts.ts'
export { type MintExtension, mintExtensions } from './solana/mintExtensions.ts'
export type { SolanaIntent } from './solana/noteTransaction.ts'
export * from './solana/SolanaWorld.ts'
export { type SolanaSeedOptions, seedSolanaWorld } from './solana/seedSolanaWorld.ts'
export * from './solana/solanaTruth.ts'
export { type SurfpoolNode, startSurfpool, surfpoolUnsupportedReason } from './solana/startSurfpool.ts'
export {
  type Devnet,
  type DevnetOptions,
  type EvmDevnet,
  type SolanaDevnet,
  startDevnet
} from './startDevnet.ts'
export { type ExpectedRecord, expectedEvmHoldings, expectedRecord } from './wire/expectedEvmAnswers.ts'
export { type ExpectedSolanaHoldings, expectedSolanaHoldings } from './wire/expectedSolanaHoldings.ts'
