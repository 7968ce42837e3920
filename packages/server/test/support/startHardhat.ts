import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type NodeProcess, startNodeProcess } from './startNodeProcess.ts'

/**
 * Starts hardhat's own node with the accounts of the devnet, unlocked; chain id 31337.
 *
 * @remarks It mines only when asked to. It has neither `eth_getBlockReceipts` nor `txpool_content`.
 */
export function startHardhat({ port = 0, genesisSeconds = 1_700_000_000 } = {}): Promise<NodeProcess> {
  const config = fileURLToPath(new URL('hardhat.config.cjs', import.meta.url))
  return startNodeProcess(
    createRequire(import.meta.url).resolve('hardhat/internal/cli/bootstrap.js'),
    ['node', '--config', config, '--hostname', '127.0.0.1', '--port', String(port)],
    {
      listening: /server at http:\/\/(127\.0\.0\.1:\d+)/,
      environment: {
        HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true',
        TEST_INITIAL_DATE: new Date(genesisSeconds * 1000).toISOString()
      }
    }
  )
}
