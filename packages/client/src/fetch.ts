/**
 * The client over `fetch`, without a dependency: for pages, edge functions and every runtime that has `fetch`. All but
 * {@link createClient} is as in the main entry.
 *
 * @packageDocumentation
 */
export { createFetchClient as createClient, type FetchClientOptions } from './createFetchClient.ts'
export type { FetchedResponse, FetchLike } from './fetchTransport.ts'
export * from './surface.ts'
