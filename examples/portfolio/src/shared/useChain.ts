import { getSyncStatusQuery } from '@chain-data/client/query'
import { useQuery } from '@tanstack/react-query'
import { type ChainSettings, chainById, settings } from '../config.ts'
import { useClient } from './ClientProvider.tsx'

/** Name and currency of a chain: those of the settings; of a chain that they do not name, those that the service reports. */
export function useChain(chainId: number): ChainSettings {
  const isSet = settings.chains.some(({ id }) => id === chainId)
  const { data } = useQuery({ ...getSyncStatusQuery(useClient(), { chainId }), enabled: !isSet })
  return chainById(chainId, data)
}
