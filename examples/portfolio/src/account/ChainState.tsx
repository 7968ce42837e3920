import { hasReason } from '@chain-data/client/fetch'
import { getSyncStatusQuery } from '@chain-data/client/query'
import { useQuery } from '@tanstack/react-query'
import { settings } from '../config.ts'
import { useClient } from '../shared/ClientProvider.tsx'
import { shownInteger } from '../shared/formatAmount.ts'
import { Notice } from '../shared/Notice.tsx'
import { useChain } from '../shared/useChain.ts'

/** So many blocks any index is behind while it takes in the next. */
const usualLag = 2

/** Says when a chain is not read as it should be; nothing while all is well, or where the host does not tell. */
export function ChainState({ chainId }: { chainId: number }) {
  const client = useClient()
  const { family, name } = useChain(chainId)
  const { data } = useQuery({
    ...getSyncStatusQuery(client, { chainId, ...(family === 'solana' && { endpoint: '/solana' as const }) }),
    // A host without it has not got it later either.
    refetchInterval: ({ state: { error } }) =>
      hasReason(error, 'METHOD_NOT_FOUND') ? false : settings.pollMs
  })
  if (data === undefined) return null
  const { degraded, lagBlocks = 0, indexedTo } = data
  if (degraded) {
    return (
      <Notice state="stale" title={`The node of ${name} does not answer well`}>
        What you see may be older than the chain. It is renewed as soon as the node answers.
      </Notice>
    )
  }
  if (lagBlocks <= usualLag) return null
  return (
    <Notice state="stale" title={`The history is ${shownInteger(lagBlocks)} blocks behind`}>
      {indexedTo !== undefined &&
        `It is known up to block ${shownInteger(indexedTo)}; newer transactions follow.`}
    </Notice>
  )
}
