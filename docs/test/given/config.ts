import type { ConfigInput } from '@chain-data/server'

/** A configuration over the node that the test runs. */
export const config: ConfigInput = {
  store: 'sqlite::memory:',
  projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
  chains: { evm: [{ chainId: 31337, rpcUrls: ['http://127.0.0.1:8545'] }] }
}
