import { createRequire } from 'node:module'
import { serveBlockTimes } from './serveBlockTimes.ts'

/**
 * The process that holds one embedded Solana node.
 *
 * The node cannot be stopped and only one fits into a process, so it gets one of its own and ends with it. It
 * also ends when the process that started it is gone.
 */
interface Surfnet {
  rpcUrl: string
  wsUrl: string
  /** Takes what has happened out of the node's queue. */
  drainEvents(): unknown[]
}

interface SurfpoolModule {
  Surfnet: { startWithConfig(config: { offline: boolean; blockProductionMode: string }): Surfnet }
}

process.once('disconnect', () => process.exit(0))
try {
  const require = createRequire(import.meta.url)
  const { Surfnet } = require('surfpool-sdk-linux-x64-gnu') as SurfpoolModule
  const node = Surfnet.startWithConfig({ offline: true, blockProductionMode: 'transaction' })
  process.send?.({ rpcUrl: await serveBlockTimes(node.rpcUrl), wsUrl: node.wsUrl })
  // The node puts 13 ticks of its clock a second into a queue of 1,024, and what each transaction does. Once that is full
  // it answers nobody any more. The timer also keeps the handle, and with it the node.
  setInterval(() => node.drainEvents(), 50)
} catch (error) {
  process.send?.({ failure: error instanceof Error ? error.message : String(error) })
  process.exitCode = 1
  process.disconnect?.()
}
