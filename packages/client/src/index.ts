/**
 * The client: typed calls of every method, retried under one deadline, with one family of errors. Over axios, and over
 * XMLHttpRequest in React Native.
 *
 * @packageDocumentation
 */
export { createClient } from './createClient.ts'
export * from './surface.ts'
