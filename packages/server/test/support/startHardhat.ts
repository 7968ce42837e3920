import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type NodeProcess, startNodeProcess } from './startNodeProcess.ts'

const folder = fileURLToPath(new URL('../../../../.ci/apart', import.meta.url))

/**
 * Starts hardhat's own node with the accounts of the devnet, unlocked; chain id 31337.
 *
 * @remarks `npm run test:apart` installs it. It mines only when asked to. It has neither `eth_getBlockReceipts` nor `txpool_content`.
 */
export function startHardhat({ port = 0, genesisSeconds = 1_700_000_000 } = {}): Promise<NodeProcess> {
  const config = fileURLToPath(new URL('hardhat.config.cjs', import.meta.url))
  return startNodeProcess(
    createRequire(join(folder, 'package.json')).resolve('hardhat/internal/cli/bootstrap.js'),
    ['node', '--config', config, '--hostname', '127.0.0.1', '--port', String(port)],
    {
      // It runs in projects that have installed it, nowhere else.
      folder,
      listening: /server at http:\/\/(127\.0\.0\.1:\d+)/,
      environment: {
        HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true',
        TEST_INITIAL_DATE: new Date(genesisSeconds * 1000).toISOString()
      }
    }
  )
}
