import type { SyncStatus } from '@chain-data/client/fetch'
import { type ChainSettings, type PageSettings, readSettings } from './settings.ts'

export type { ChainSettings } from './settings.ts'

/** The settings of this page. */
export const settings: PageSettings = readSettings(import.meta.env)

/**
 * A chain as the page knows it. One that is in no setting is an EVM chain with the name and currency that the service
 * `reported`, or with a number for a name.
 */
export function chainById(
  id: number,
  reported: Pick<SyncStatus, 'name' | 'nativeCurrency'> = {}
): ChainSettings {
  const known = settings.chains.find(chain => chain.id === id)
  const { name = `Chain ${id}`, nativeCurrency: { symbol, decimals } = { symbol: 'ETH', decimals: 18 } } =
    reported
  return known ?? { id, family: 'evm', name, symbol, decimals }
}
