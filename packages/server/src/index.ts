/**
 * The server as a library: indexes plain nodes, answers the methods, and mounts into a host of any framework.
 *
 * @packageDocumentation
 */

export { ChainDataError, StoreError, type SyncStatus } from '@chain-data/index'
export { allFeatures } from './features/all.ts'
export type { StatusReport } from './features/operatorPages/statusPage/StatusReport.ts'
export type { NamedPrices, PricedAsset, ReadPrices } from './model/prices.ts'
export type { ChainState, SolanaState } from './model/sync.ts'
export { ConfigError } from './platform/errors.ts'
export type { LogFields, Logger } from './platform/logger.ts'
export {
  type Config,
  type ConfigInput,
  describeConfig,
  loadConfig,
  type ProjectInput,
  parseConfig
} from './server/config/config.ts'
export type {
  Feature,
  FeatureParts,
  OpenCluster,
  OpenEvmChain,
  OpenServer,
  Services
} from './server/feature/Feature.ts'
export type { IndexedTransactionView, IndexView } from './server/feature/readIndex.ts'
export type { HttpAnswer, HttpRequest } from './server/guards/exchange.ts'
export { Answered, type Arrival, type Guard } from './server/guards/guards.ts'
export type { FetchHandler, FetchOrigin } from './server/http/createFetchHandler.ts'
export type { NodeHandler } from './server/http/createNodeHandler.ts'
export type { CallGuard, LoggedIn } from './server/limits/login.ts'
export { defineMethod, invalidParams, type Method, type OwnMethod } from './server/methods/Method.ts'
export type { MethodContext } from './server/methods/MethodContext.ts'
export type { VerifiedProject, VerifyLimits, VerifyProject } from './server/projects/createProjectVerifier.ts'
export { createServer, type Server, type ServerOptions } from './server/start/createServer.ts'
export { type OpenIndex, openIndex } from './server/start/openIndex.ts'
