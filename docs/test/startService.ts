import { startDevnet } from '@chain-data/devnet'
import { createServer } from '@chain-data/server'
import { patient } from '../../.config/patience.ts'
import type { Addresses } from './withAddresses.ts'

/** What `npm start` shows, on ports of its own. */
export interface Service extends Addresses {
  close(): Promise<void>
}

/** Starts it and waits until every chain is indexed. */
export async function startService(): Promise<Service> {
  const devnet = await startDevnet()
  const { evm, solana, metadata } = devnet
  // As `npm start` leaves it once its answers are shown.
  await evm!.driver.setAutomine(true)
  const server = await createServer({
    listen: { port: 0 },
    store: 'sqlite::memory:',
    projects: [
      {
        projectId: 'demo',
        serverKey: 'demo-server-key',
        clientKeys: [{ key: 'demo-client-key', origins: ['http://localhost:5173'] }]
      }
    ],
    chains: {
      evm: [{ chainId: 31337, rpcUrls: [evm!.node.rpcUrl], pollIntervalMs: 250, traces: 'on' }],
      solana: solana === undefined ? [] : [{ chainId: 103, dev: true, rpcUrls: [solana.node.rpcUrl] }]
    },
    metadata: { allowHosts: [metadata.hostPort], ipfsGateways: [metadata.url] },
    rateLimit: false,
    log: { level: 'error' }
  })
  const baseUrl = await server.listen()
  const deadline = performance.now() + patient(60_000)
  while ((await fetch(`${baseUrl}/health/ready`)).status !== 200) {
    if (performance.now() > deadline) throw new Error('the chains are not indexed in time')
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  return {
    baseUrl,
    nodeUrl: evm!.node.rpcUrl,
    async close() {
      await server.close()
      await devnet.stop()
    }
  }
}
