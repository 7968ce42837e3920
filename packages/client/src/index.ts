export { createClient } from './createClient.ts'
export * from './surface.ts'
