import { transport } from '@chain-data/protocol'
import type { SolanaStatus, SyncStatus } from '../../model/sync.ts'
import { type EvmChainHealth, toChainHealth } from './statusPage/chainHealth.ts'

/** What `/health/ready` answers, as JSON. */
export interface HealthReport {
  readonly ready: boolean
  readonly closing?: true
  readonly chains: readonly EvmChainHealth[]
  /** Whether their nodes answer; absent where no cluster is served. Plays no part in `ready`. */
  readonly solana?: readonly SolanaStatus[]
}

/** Builds the health pages by path: `/health/live`, and `/health/ready`, which is 503 until every first backfill is complete. */
export function healthPages(
  syncStatuses: () => readonly SyncStatus[],
  solanaStatuses: () => readonly SolanaStatus[],
  isClosing: () => boolean
) {
  const headers = { 'content-type': transport.responseContentType }
  return new Map([
    ['/health/live', async () => ({ status: 200, headers, body: '{"live":true}' })],
    [
      '/health/ready',
      async () => {
        const chains = syncStatuses().map(status => toChainHealth(status, Date.now()))
        const solana = solanaStatuses()
        const report: HealthReport = {
          ready: !isClosing() && chains.every(chain => chain.ready),
          ...(isClosing() ? { closing: true } : {}),
          chains,
          ...(solana.length === 0 ? {} : { solana })
        }
        return { status: report.ready ? 200 : 503, headers, body: JSON.stringify(report) }
      }
    ]
  ])
}
