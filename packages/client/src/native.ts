export { createNativeClient as createClient } from './createNativeClient.ts'
export * from './surface.ts'
