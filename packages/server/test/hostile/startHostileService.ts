import { eventually } from '@chain-data/index/test'
import type { EvmHoldings } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import { expect } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { createServer, type Server } from '../../src/server/start/createServer.ts'
import type { ChaosNode } from '../chaos/chaosNodes.ts'

const authorization = `Basic ${Buffer.from('demo:demo-key').toString('base64')}`

/** The whole server over one node, asked as any caller asks it. */
export interface HostileService {
  readonly server: Server
  /** Waits until the index stands on this block and follows its node. */
  reach(blockHash: string): Promise<void>
  /** A valid answer over HTTP. @throws {Error} naming the reason when the service refuses. */
  holdings(address: string, tokenAddresses?: readonly string[]): Promise<EvmHoldings>
  close(): Promise<void>
}

/** @param options.pollIntervalMs - how often the index polls the node; 50. */
export async function startHostileService(
  { rpcUrl, config }: ChaosNode,
  options: { readonly pollIntervalMs?: number; readonly requestDeadlineMs?: number } = {}
): Promise<HostileService> {
  const { pollIntervalMs = 50, requestDeadlineMs = patient(25_000) } = options
  const server = await createServer({
    store: 'sqlite::memory:',
    listen: { host: '127.0.0.1', port: 0 },
    projects: [{ projectId: 'demo', serverKey: 'demo-key' }],
    chains: {
      evm: [
        {
          chainId: 31337,
          rpcUrls: [rpcUrl],
          pollIntervalMs,
          finality: config.finality,
          waivers: [...(config.waivers ?? [])]
        }
      ]
    },
    rateLimit: false,
    overload: false,
    limits: { requestDeadlineMs },
    log: { level: 'silent' }
  })
  const url = await server.listen()

  async function ask(method: string, params: readonly unknown[]) {
    const response = await fetch(`${url}/evm-chain`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId: 31337, params })
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result
  }

  async function holdings(address: string, tokenAddresses?: readonly string[]) {
    const answer = await ask('svc_getTokensAndNFTs', tokenAddresses ? [address, tokenAddresses] : [address])
    expect(checkResult('svc_getTokensAndNFTs', answer)).toBeUndefined()
    return answer as EvmHoldings
  }

  return {
    server,
    async reach(blockHash) {
      const look = () => {
        const [status] = server.status()
        return status?.indexedTo?.hash === blockHash && status.phase === 'following'
      }
      await eventually(`the index stands on ${blockHash}`, look, 30_000).catch(error => {
        throw new Error(
          `${error instanceof Error ? error.message : error}: ${JSON.stringify(server.status())}`
        )
      })
    },
    holdings,
    close: () => server.close()
  }
}
