import { type ChainSettings, type PageSettings, readSettings } from './settings.ts'

export type { ChainSettings } from './settings.ts'

/** The settings of this page. */
export const settings: PageSettings = readSettings(import.meta.env)

/** A chain as the page knows it; one that is in no setting is an EVM chain with a number for a name. */
export function chainById(id: number): ChainSettings {
  const known = settings.chains.find(chain => chain.id === id)
  return known ?? { id, family: 'evm', name: `Chain ${id}`, symbol: 'ETH', decimals: 18 }
}
