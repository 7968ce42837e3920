export { createFetchClient as createClient, type FetchClientOptions } from './createFetchClient.ts'
export type { FetchedResponse, FetchLike } from './fetchTransport.ts'
export * from './surface.ts'
