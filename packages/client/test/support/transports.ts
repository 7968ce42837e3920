import { createClient as createFetchClient } from '../../src/fetch.ts'
import { type ChainOptional, type Client, type ClientOptions, createClient } from '../../src/index.ts'

/** Both entries by name: whatever holds for one must hold for the other. */
export const transports: readonly (readonly [
  name: string,
  create: (options: ClientOptions<'number'>) => Client<ChainOptional>
])[] = [
  ['axios', options => createClient(options) as unknown as Client<ChainOptional>],
  ['fetch', options => createFetchClient(options) as unknown as Client<ChainOptional>]
]
