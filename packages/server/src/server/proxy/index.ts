/**
 * A handler that lets the pages of a host call a service without holding a key.
 *
 * @packageDocumentation
 */

export { ConfigError } from '../../platform/errors.ts'
export type { FetchHandler, FetchOrigin } from '../http/createFetchHandler.ts'
export type { NodeHandler } from '../http/createNodeHandler.ts'
export { createProxyHandler, type ProxyHandler } from './createProxyHandler.ts'
export type { HostRequest, ProxyOptions } from './ProxyOptions.ts'
