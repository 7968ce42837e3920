import { createClient } from '@chain-data/client'
import { createServer } from '@chain-data/server'
import { choosePort } from './choosePort.ts'
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

const preferredPort = 8080

/** Starts the server over the subject, on 127.0.0.1, and adds its end to the shutdown. */
export async function startService(
  subject: Subject,
  options: CliOptions,
  shutdown: Shutdown
): Promise<Service> {
  const { projectId, serverKey } = options
  const port = options.port || (await choosePort(options.port ?? preferredPort))
  const { metadataHost } = subject
  const server = await createServer({
    listen: { host: '127.0.0.1', port },
    store: subject.store,
    projects: [{ projectId, serverKey }],
    chains: { evm: subject.evm, solana: subject.solana },
    ...(metadataHost === undefined
      ? {}
      : { metadata: { allowHosts: [metadataHost], ipfsGateways: [`http://${metadataHost}`] } }),
    log: { level: 'error' }
  })
  shutdown.add(() => server.close())
  await server.listen()
  const baseUrl = `http://127.0.0.1:${port}`
  const client = createClient({ baseUrl, projectId, serverKey })
  return {
    baseUrl,
    client,
    isReady: async () => (await fetch(`${baseUrl}/health/ready`)).status === 200,
    readSync: () => Promise.all(subject.evm.map(({ chainId }) => client.getSyncStatus({ chainId })))
  }
}
