import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@chain-data/client'
import { type ConfigInput, createServer, type Server } from '@chain-data/server'
import { patient } from '../../../../../.config/patience.ts'
import { createLogger } from '../../../../server/src/platform/logger.ts'
import type { Devnet } from '../../../src/index.ts'
import { credentials, evmChainId, solanaChainId } from './callService.ts'

/** A service in this process over a devnet. */
export interface Road {
  readonly baseUrl: string
  readonly server: Server
  readonly client: ReturnType<typeof createClient>
  /** Everything it has logged, at the most talkative level. */
  readonly logLines: string[]
  close(): Promise<void>
}

export interface RoadOptions extends Partial<ConfigInput> {
  /** Instead of the devnet's node: a proxy before it, for one. */
  readonly evmUrl?: string
  /** Default true: waits until every chain is indexed. */
  readonly untilReady?: boolean
}

/** Starts the real server over the nodes of a devnet, on a store of its own unless told otherwise. */
export async function startRoad(
  { evm, solana, metadata }: Devnet,
  { evmUrl = evm?.node.rpcUrl, untilReady = true, ...config }: RoadOptions = {}
): Promise<Road> {
  const logLines: string[] = []
  const evmChain = { chainId: evmChainId, rpcUrls: [evmUrl ?? ''], traces: 'on' as const, pollIntervalMs: 50 }
  const server = await createServer(
    {
      listen: { port: 0 },
      store: 'sqlite::memory:',
      projects: [credentials],
      chains: {
        evm: evmUrl === undefined ? [] : [evmChain],
        solana:
          solana === undefined ? [] : [{ chainId: solanaChainId, dev: true, rpcUrls: [solana.node.rpcUrl] }]
      },
      metadata: { allowHosts: [metadata.hostPort], ipfsGateways: [metadata.url] },
      rateLimit: false,
      overload: false,
      ...config
    },
    { logger: createLogger({ level: 'debug', write: line => logLines.push(line) }) }
  )
  const baseUrl = await server.listen()
  if (untilReady) await untilStatus(`${baseUrl}/health/ready`, 200)
  // A test wants to see each answer, not what became of it.
  const client = createClient({ baseUrl, ...credentials, retries: 0 })
  return { baseUrl, server, client, logLines, close: () => server.close() }
}

/** Polls a page until it answers with that status. @throws After `timeoutMs`, with what it said last. */
export async function untilStatus(url: string, status: number, timeoutMs = 30_000): Promise<string> {
  let last = ''
  return eventually(
    async () => {
      const response = await fetch(url)
      last = `${response.status} ${await response.text()}`
      return response.status === status ? last : undefined
    },
    () => `${url} to answer ${status}, not ${last}`,
    timeoutMs
  )
}

/** Polls until `look` returns something. @throws After `limitMs`, on a slow machine later; names what was waited for. */
export async function eventually<T>(
  look: () => Promise<T | undefined> | T | undefined,
  what: () => string,
  limitMs = 30_000
): Promise<T> {
  const deadline = performance.now() + patient(limitMs)
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what()}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

/** A folder for one test. */
export async function temporaryFolder(): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'chain-data-road-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
