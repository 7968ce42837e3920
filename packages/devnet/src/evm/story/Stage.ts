import type { MetadataHost } from '../../metadata/MetadataHost.ts'
import type { Random } from '../../platform/createRandom.ts'
import type { EvmDriver } from '../createEvmDriver.ts'
import type { EvmCalls } from '../evmIntents.ts'

/** What every scene of the seeded story works with. */
export interface Stage {
  driver: EvmDriver
  calls: EvmCalls
  metadata: MetadataHost
  random: Random
  /** Address of an account by name. */
  addressOf(name: string): string
}
