import { createClient, RpcError } from '@chain-data/client'
import { createServer } from '@chain-data/server'
import { ZeroAddress } from 'ethers'
import type { Shutdown } from './createShutdown.ts'
import type { Subject } from './openSubject.ts'
import type { CliOptions } from './readOptions.ts'
import type { SyncPoint } from './waitUntilSynced.ts'

/** The running service and a client that may call it. */
export interface Service {
  baseUrl: string
  client: ReturnType<typeof createClient>
  isReady(): Promise<boolean>
  /** Where every EVM chain stands. */
  readSync(): Promise<SyncPoint[]>
}

/** Publishable key of the demo project; it works from pages of these origins only. */
export const clientKey = {
  key: 'demo-client-key',
  origins: [3000, 5173, 5174, 8000].flatMap(port => [`http://localhost:${port}`, `http://127.0.0.1:${port}`])
}

/** Starts the server over the subject, on 127.0.0.1, and adds its end to the shutdown. */
export async function startService(
  subject: Subject,
  { projectId, serverKey, port }: Pick<CliOptions, 'projectId' | 'serverKey'> & { port: number },
  shutdown: Shutdown
): Promise<Service> {
  const { metadataHost } = subject
  const server = await createServer({
    listen: { host: '127.0.0.1', port, operator: 'main' },
    store: subject.store,
    projects: [{ projectId, serverKey, clientKeys: [clientKey] }],
    chains: { evm: subject.evm, solana: subject.solana },
    ...(metadataHost === undefined
      ? {}
      : { metadata: { allowHosts: [metadataHost], ipfsGateways: [`http://${metadataHost}`] } }),
    log: { level: 'error' }
  })
  shutdown.add(() => server.close())
  const baseUrl = await server.listen()
  const client = createClient({ baseUrl, projectId, serverKey })
  return {
    baseUrl,
    client,
    isReady: async () => {
      if ((await fetch(`${baseUrl}/health/ready`)).status !== 200) return false
      // A kept index is ready at once; its answers still wait until the node has been heard again.
      const answers = subject.evm.map(({ chainId }) =>
        client.getTransactionsByAddress({ chainId, address: ZeroAddress, limit: 1, retries: 0 })
      )
      return await Promise.all(answers).then(() => true, isNotYet)
    },
    readSync: () =>
      Promise.all(
        // Until its first block is in, an index does not say where it begins.
        subject.evm.map(async ({ chainId, startBlock = 0 }) => ({
          indexedFrom: startBlock,
          ...(await client.getSyncStatus({ chainId }))
        }))
      )
  }
}

/** @returns false for a failure that will pass. @throws Any other. */
function isNotYet(error: unknown): false {
  if (error instanceof RpcError && error.retryable) return false
  throw error
}
