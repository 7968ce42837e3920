/**
 * The server as a library: indexes plain nodes, answers the methods, and mounts into a host of any framework.
 *
 * @packageDocumentation
 */
export {
  type Config,
  type ConfigInput,
  describeConfig,
  loadConfig,
  type ProjectInput,
  parseConfig
} from './config.ts'
export type { FetchHandler, FetchOrigin } from './http/createFetchHandler.ts'
export type { NodeHandler } from './http/createNodeHandler.ts'
export type { StatusReport } from './http/statusPage/StatusReport.ts'
export type { SyncStatus } from './model/sync.ts'
export { ChainDataError, ConfigError, StoreError } from './platform/errors.ts'
export type { LogFields, Logger } from './platform/logger.ts'
export type { VerifiedProject, VerifyLimits, VerifyProject } from './projects/VerifyProject.ts'
export { createServer, type Server, type ServerOptions } from './server.ts'
