import { type HistoryCertificate, hasReason, isConfirmed } from '@chain-data/client/fetch'
import type { HistorySnapshot } from '@chain-data/client/history'
import { verifyHistoryQuery } from '@chain-data/client/query'
import { useQuery } from '@tanstack/react-query'
import { useClient } from '../shared/ClientProvider.tsx'
import type { AccountRoute } from '../shared/route.ts'

/** Up to so many transactions a proof costs the service little, and is asked for without being pressed for. */
const cheap = 200
/** How soon what came after a proof is proven too. */
const renewMs = 60_000
/** The service reads the whole history for a proof, and the node's state at many blocks where something differs. */
const timeoutMs = 60_000

/** A proof that a history is complete, as far as it was asked for. */
export interface Proof {
  readonly certificate: HistoryCertificate | undefined
  /** Why the last attempt failed; null when it did not. */
  readonly error: Error | null
  readonly isProving: boolean
  /** Whether the host is known to have no proofs. */
  readonly isUnknown: boolean
  readonly prove: () => void
}

/** The proof for an account; everybody who asks shares it. Of a long history it is made only when `prove` is called. */
export function useCertificate(
  { chainId, address }: AccountRoute,
  { records, hasOlder, reorgs }: HistorySnapshot
): Proof {
  const client = useClient()
  const isCheap = records !== undefined && !hasOlder && records.length <= cheap
  const newest = records?.find(record => isConfirmed(record))
  const { queryKey, ...query } = verifyHistoryQuery(client, { chainId, address, timeoutMs })
  const proof = useQuery({
    ...query,
    // One of before a reorg speaks of blocks that are gone.
    queryKey: [...queryKey, reorgs],
    enabled: isCheap,
    staleTime: Number.POSITIVE_INFINITY,
    // Its amounts are integers of any size, which cannot be compared as JSON.
    structuralSharing: false,
    refetchInterval: ({ state: { data } }) => {
      const isOutdated = data !== undefined && isAfter(newest, data.asOf.blockNumber)
      return isCheap && isOutdated ? renewMs : false
    }
  })
  return {
    ...{ certificate: proof.data, error: proof.error, isProving: proof.isFetching },
    isUnknown: hasReason(proof.error, 'METHOD_NOT_FOUND'),
    prove: () => void proof.refetch()
  }
}

function isAfter(record: { blockNumber?: number } | undefined, block: number): boolean {
  return record?.blockNumber !== undefined && record.blockNumber > block
}
