import type { Server } from '@chain-data/server'

/** Below it are the route handlers of `app/api/chain-data`. */
const basePath = '/api/chain-data'

const kept = globalThis as typeof globalThis & { chainData?: Promise<Server> }

/**
 * The service of this process. The promise lives on `globalThis`, since Next loads this file again for each bundle and
 * for each change in development, and two servers would write one index.
 */
export function chainData(): Promise<Server> {
  kept.chainData ??= start()
  return kept.chainData
}

async function start(): Promise<Server> {
  // Left to Node: it starts threads from files of its own, which a bundle would not have.
  const { createServer, loadConfig } = await import(/* turbopackIgnore: true */ '@chain-data/server')
  // From CHAIN_DATA_* variables.
  const service = await createServer(await loadConfig(undefined), { basePath })
  // Next ends by itself once the answers under way are complete.
  process.once('SIGTERM', () => service.close())
  return service
}
