import { fileURLToPath } from 'node:url'
import { developmentPhrase } from '@chain-data/devnet'
import { type NodeProcess, startNodeProcess } from './startNodeProcess.ts'

/**
 * Starts ganache with the accounts of the devnet, unlocked; chain id 31337.
 *
 * @remarks It mines each transaction at once until `miner_stop`. It has no `eth_getBlockReceipts`.
 */
export function startGanache(): Promise<NodeProcess> {
  const program = fileURLToPath(new URL('serveGanache.ts', import.meta.url))
  return startNodeProcess(program, [developmentPhrase], { listening: /listening on (127\.0\.0\.1:\d+)/ })
}
