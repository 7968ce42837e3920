import {
  type AnvilNode,
  type EvmDriver,
  type MetadataServer,
  seedEvmWorld,
  startAnvil,
  startMetadataServer
} from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import type { EvmHoldings } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import { createEvmRpc } from '../../src/nodes/evm/rpc.ts'
import { createLogger } from '../../src/platform/logger.ts'
import type { ConfigInput } from '../../src/server/config/config.ts'
import { createServer, type Server } from '../../src/server/start/createServer.ts'

/** The whole service over anvil with the devnet's world, asked over the wire. */
export interface HoldingsService {
  readonly driver: EvmDriver
  readonly server: Server
  readonly metadata: MetadataServer
  readonly logLines: readonly string[]
  /** Waits until the newest block is indexed and followed. */
  indexed(): Promise<void>
  /** Puts code at an address, without any transaction: no log will ever name it. */
  place(address: string, code: string): Promise<void>
  /** The answer, valid by the document. */
  holdings(address: string, filter?: readonly string[]): Promise<EvmHoldings>
  /** The answer as it came: result or error. */
  ask(params: readonly unknown[]): Promise<{ result?: EvmHoldings; error?: { code: number; data: unknown } }>
  close(): Promise<void>
}

/** @param configure - told the origin of the metadata server, which is an allowed host and the IPFS gateway. */
export async function startHoldingsService(
  configure: (metadata: MetadataServer) => Partial<ConfigInput> = () => ({})
): Promise<HoldingsService> {
  const anvil: AnvilNode = await startAnvil()
  const metadata = await startMetadataServer()
  const driver = await seedEvmWorld(anvil.rpcUrl, { metadata, pool: false })
  const rpc = createEvmRpc({ chainId: anvil.chainId, rpcUrls: [anvil.rpcUrl] })
  const logLines: string[] = []
  const { metadata: metadataConfig, ...config } = configure(metadata)
  const server = await createServer(
    {
      store: 'sqlite::memory:',
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: { evm: [{ chainId: anvil.chainId, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 50 }] },
      rateLimit: false,
      overload: false,
      metadata: { ipfsGateways: [metadata.url], allowHosts: [metadata.hostPort], ...metadataConfig },
      ...config
    },
    { logger: createLogger({ level: 'info', write: line => logLines.push(line) }) }
  )

  const indexed = async () => {
    const height = Number(await rpc.request({ method: 'eth_blockNumber', params: [] }))
    const isIndexed = () => {
      const [status] = server.status()
      return status?.phase === 'following' && status.indexedTo?.number === height
    }
    await eventually(`block ${height} is indexed`, isIndexed, 30_000)
  }
  await indexed()

  const ask: HoldingsService['ask'] = async params => {
    const response = await server.fetch(
      new Request('http://service/evm-chain', {
        method: 'POST',
        headers: {
          authorization: `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`,
          'content-type': 'application/json'
        },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method: 'svc_getTokensAndNFTs', chainId: anvil.chainId },
          params
        })
      })
    )
    return (await response.json()) as Awaited<ReturnType<HoldingsService['ask']>>
  }

  return {
    ...{ driver, server, metadata, logLines, ask, indexed },
    async place(address, code) {
      await rpc.request({ method: 'anvil_setCode', params: [address, code] })
      // State is committed to a block, so that reads at an indexed one see it.
      await rpc.request({ method: 'evm_mine', params: [] })
      await indexed()
    },
    async holdings(address, filter) {
      const { result, error } = await ask(filter === undefined ? [address] : [address, filter])
      if (result === undefined) throw new Error(`refused: ${JSON.stringify(error)}`)
      const problem = checkResult('svc_getTokensAndNFTs', result)
      if (problem !== undefined) throw new Error(`not as in the document: ${JSON.stringify(problem)}`)
      return result
    },
    async close() {
      await server.close()
      rpc.close()
      await metadata.stop()
      await anvil.stop()
    }
  }
}
