import { type Devnet, evmAccount, startDevnet } from '@chain-data/devnet'
import { createServer } from '@chain-data/server'
import { patient } from '../../../../.config/patience.ts'

/** A real service over a devnet, to be examined. */
export interface Target {
  readonly baseUrl: string
  readonly devnet: Devnet
  /** Accounts with every kind of transaction, token and NFT, of both families where both are there. */
  readonly addresses: readonly string[]
  close(): Promise<void>
}

export const project = { projectId: 'demo', serverKey: 'demo-server-key' }

/** Starts it and waits until every chain is indexed. */
export async function startTarget(): Promise<Target> {
  const devnet = await startDevnet({ seed: 77 })
  const { evm, solana, metadata } = devnet
  const server = await createServer({
    listen: { port: 0 },
    store: 'sqlite::memory:',
    projects: [{ ...project, clientKeys: [{ key: 'demo-client-key', origins: ['https://dapp.example'] }] }],
    chains: {
      evm: [{ chainId: 31337, rpcUrls: [evm!.node.rpcUrl], pollIntervalMs: 50, traces: 'on' }],
      solana: solana === undefined ? [] : [{ chainId: 103, dev: true, rpcUrls: [solana.node.rpcUrl] }]
    },
    metadata: { allowHosts: [metadata.hostPort], ipfsGateways: [metadata.url] },
    rateLimit: false,
    login: false,
    overload: false,
    log: { level: 'error' }
  })
  const baseUrl = await server.listen()
  const deadline = performance.now() + patient(30_000)
  while ((await fetch(`${baseUrl}/health/ready`)).status !== 200) {
    if (performance.now() > deadline) throw new Error('the chains are not indexed in time')
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  return {
    baseUrl,
    devnet,
    addresses: [
      ...['alice', 'bob', 'carol'].map(name => evmAccount(evm!.world, name).address),
      ...(solana === undefined ? [] : ['alice', 'erin'].map(name => solana.world.owners[name]!.address))
    ],
    async close() {
      await server.close()
      await devnet.stop()
    }
  }
}
