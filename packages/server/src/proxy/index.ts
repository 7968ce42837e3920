export { ConfigError } from '../platform/errors.ts'
export { createProxyHandler, type ProxyHandler } from './createProxyHandler.ts'
export type { HostRequest, ProxyOptions } from './ProxyOptions.ts'
