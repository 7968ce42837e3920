import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AnvilNode,
  type EvmDriver,
  evmAddressesOf,
  type MetadataServer,
  seedEvmWorld,
  startAnvil,
  startMetadataServer
} from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import type { EvmHoldings } from '@chain-data/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createServer, type Server } from '../../src/index.ts'
import { type Logger, silentLogger } from '../../src/platform/logger.ts'

let anvil: AnvilNode
let host: MetadataServer
let driver: EvmDriver
let folder: string
const servers: Server[] = []

beforeAll(async () => {
  anvil = await startAnvil()
  host = await startMetadataServer()
  driver = await seedEvmWorld(anvil.rpcUrl, { metadata: host, pool: false })
  folder = await mkdtemp(join(tmpdir(), 'chain-data-restart-'))
})
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})
afterAll(async () => {
  await host?.stop()
  await anvil?.stop()
  await rm(folder, { recursive: true, force: true })
})

const authorization = `Basic ${Buffer.from('demo:demo-key').toString('base64')}`

async function start(until: 'following' | 'created' = 'following') {
  const warnings: string[] = []
  const logger: Logger = {
    ...silentLogger,
    warn: message => warnings.push(message),
    child: () => logger
  }
  const server = await createServer(
    {
      store: `sqlite:${folder}`,
      projects: [{ projectId: 'demo', serverKey: 'demo-key' }],
      chains: { evm: [{ chainId: anvil.chainId, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 50 }] },
      metadata: { allowHosts: [host.hostPort], ipfsGateways: [host.url] }
    },
    { logger }
  )
  servers.push(server)
  if (until === 'following') {
    await eventually('it follows', () => server.status()[0]?.phase === 'following')
  }
  const holdings = async (address: string): Promise<EvmHoldings> => {
    const body = {
      jsonrpc: '2.0',
      id: 1,
      chainId: anvil.chainId,
      method: 'svc_getTokensAndNFTs',
      params: [address]
    }
    const request = new Request('http://host/evm-chain', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify(body)
    })
    const answer = (await (await server.fetch(request)).json()) as { result: EvmHoldings }
    return answer.result
  }
  return {
    server,
    warnings,
    /** Metadata of every NFT that any address of the world holds. */
    async metadata() {
      const all = await Promise.all(evmAddressesOf(driver.world).map(holdings))
      return all.flatMap(({ nfts }) =>
        nfts.map(({ address, tokenId, data, image }) => ({ address, tokenId, data, image }))
      )
    },
    metrics: async () => (await server.fetch(new Request('http://host/metrics'))).text()
  }
}

const isRemote = ({ image }: { image: string }) => image.startsWith('http')

describe('a server that is started again', () => {
  it('knows the metadata it had, although the hosts are gone', async () => {
    const first = await start()
    const before = await first.metadata()
    expect(before.filter(isRemote).length).toBeGreaterThan(1)
    expect(await first.metrics()).toMatch(/chain_data_metadata_fetches_total\{outcome="ok"\} [1-9]/)
    await first.server.close()
    await host.stop()

    const second = await start()
    expect(await second.metadata()).toEqual(before)
    const page = await second.metrics()
    expect(page).toMatch(/chain_data_metadata_lookups_total\{found="fresh"\} [1-9]/)
    expect(page).toMatch(/chain_data_metadata_lookups_total\{found="negative"\} [1-9]/)
    expect(page).toMatch(/chain_data_metadata_lookups_total\{found="missing"\} 0/)
    expect(page).toContain('chain_data_metadata_cache_persistent 1')
  })

  it('shares the file with a second server over the same folder', async () => {
    const first = await start()
    // Its indexer waits for the first to end; its metadata does not.
    const second = await start('created')
    for (const { warnings, metrics } of [first, second]) {
      expect(warnings.filter(message => message.includes('metadata'))).toEqual([])
      expect(await metrics()).toContain('chain_data_metadata_cache_persistent 1')
    }
    expect((await first.metadata()).filter(isRemote).length).toBeGreaterThan(1)
  })

  it('answers over a damaged cache file, which is logged once', async () => {
    await writeFile(join(folder, 'metadata.sqlite'), 'damaged '.repeat(1_000))
    const { warnings, metadata, metrics } = await start()
    const found = await metadata()
    expect(found.length).toBeGreaterThan(1)
    expect(found.filter(isRemote)).toEqual([])
    expect(warnings.filter(message => message.includes('metadata'))).toHaveLength(1)
    expect(await metrics()).toContain('chain_data_metadata_cache_persistent 0')
  })
})
