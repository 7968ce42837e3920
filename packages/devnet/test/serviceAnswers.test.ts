import { createClient, isConfirmed } from '@chain-data/client'
import { createServer, type Server } from '@chain-data/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { patient } from '../../../.config/patience.ts'
import {
  type Devnet,
  evmAccount,
  evmAddressesOf,
  evmHistoryOf,
  evmNativeBalanceOf,
  expectedEvmHoldings,
  expectedRecord,
  expectedSolanaHoldings,
  startDevnet,
  surfpoolUnsupportedReason
} from '../src/index.ts'

const credentials = { projectId: 'demo', serverKey: 'demo-server-key' }

let devnet: Devnet
let server: Server
let client: ReturnType<typeof createClient>

beforeAll(async () => {
  devnet = await startDevnet({ seed: 21 })
  const { hostPort, url } = devnet.metadata
  server = await createServer({
    listen: { port: 0 },
    store: 'sqlite::memory:',
    projects: [credentials],
    chains: {
      evm: [{ chainId: 31337, rpcUrls: [devnet.evm!.node.rpcUrl], traces: 'on', pollIntervalMs: 100 }],
      solana:
        devnet.solana === undefined ? [] : [{ chainId: 103, dev: true, rpcUrls: [devnet.solana.node.rpcUrl] }]
    },
    metadata: { allowHosts: [hostPort], ipfsGateways: [url] },
    log: { level: 'error' }
  })
  const baseUrl = await server.listen()
  client = createClient({ baseUrl, ...credentials })
  const deadline = Date.now() + patient(30_000)
  while ((await fetch(`${baseUrl}/health/ready`)).status !== 200 && Date.now() < deadline) {
    await new Promise(resolve => setTimeout(resolve, 50))
  }
})

afterAll(async () => {
  await server?.close()
  await devnet?.stop()
})

const byKey = (a: { address: string; tokenId?: string }, b: { address: string; tokenId?: string }) =>
  `${a.address} ${a.tokenId}` < `${b.address} ${b.tokenId}` ? -1 : 1

describe('the service over the devnet answers what the truth says', () => {
  test('for the history of every address, record by record and field by field', async () => {
    const { world } = devnet.evm!
    const feesOf = new Map<string, { gas: bigint; fees: bigint }>()
    for (const address of [...evmAddressesOf(world), evmAccount(world, 'nobody').address]) {
      const records = await client.getTransactionsByAddress({ chainId: 31337, address })
      const truth = evmHistoryOf(world, address)
      expect(records.map(({ hash }) => hash)).toEqual(truth.map(({ hash }) => hash))
      for (const [index, sent] of truth.entries()) {
        const record = records[index]!
        const gasSpent = isConfirmed(record) ? BigInt(record.gasSpent!) : undefined
        const { timestamp, ...rest } = expectedRecord(world, sent, sent.gasUsed ?? gasSpent)
        expect(record, sent.label).toEqual({ ...rest, timestamp: timestamp ?? record.timestamp })
        if (isConfirmed(record)) feesOf.set(sent.hash, { gas: gasSpent!, fees: BigInt(record.fees!) })
      }
    }
    // The fees told by the service explain every balance.
    for (const { name, address } of Object.values(world.accounts)) {
      const { native } = await client.getTokensAndNFTs({ chainId: 31337, address })
      const expected = evmNativeBalanceOf(world, address, sent => feesOf.get(sent.hash)!.fees)
      expect(native, name).toBe(expected.toString())
    }
  })

  test('for the tokens and NFTs of every address', async () => {
    const { world } = devnet.evm!
    for (const address of evmAddressesOf(world)) {
      const answer = await client.getTokensAndNFTs({ chainId: 31337, address })
      const truth = expectedEvmHoldings(world, address, devnet.metadata.url)
      expect(answer.tokens.toSorted(byKey)).toEqual(truth.tokens.toSorted(byKey))
      expect(answer.nfts.toSorted(byKey)).toEqual(truth.nfts.toSorted(byKey))
    }
  })

  test.skipIf(surfpoolUnsupportedReason() !== undefined).each([false, true])(
    'for every Solana owner, with parseMetadataUri %s',
    async parseMetadataUri => {
      const { world } = devnet.solana!
      for (const { name, address } of Object.values(world.owners)) {
        const answer = await client.enhancedGetTokensAndNFTs({ chainId: 103, address, parseMetadataUri })
        const truth = expectedSolanaHoldings(world, name, { parseMetadataUri, origin: devnet.metadata.url })
        expect(answer.lamportsString).toBe(truth.lamportsString)
        expect(answer.lamports).toBe(Number(truth.lamports))
        const rounded = truth.tokens.map(token => ({ ...token, amount: Number(token.amount) }))
        expect(answer.tokens.toSorted(byKey)).toEqual(rounded.toSorted(byKey))
        expect(answer.nfts.toSorted(byKey)).toEqual(truth.nfts.toSorted(byKey))
      }
    }
  )

  test('while the chain moves on, is reorganised and moves on again', async () => {
    const { world, driver } = devnet.evm!
    const frank = evmAccount(world, 'frank').address
    const settles = async () => {
      const truth = () => evmHistoryOf(world, frank).map(({ hash }) => hash)
      await expect
        .poll(
          async () =>
            (await client.getTransactionsByAddress({ chainId: 31337, address: frank })).map(r => r.hash),
          {
            timeout: patient(10_000)
          }
        )
        .toEqual(truth())
    }
    await driver.send({ label: 'late 1', from: 'alice', to: frank, valueWei: 1n })
    await driver.mine({ blocks: 2 })
    await driver.send({ label: 'late 2', from: 'alice', to: frank, valueWei: 2n })
    await driver.mine()
    await settles()
    await driver.reorg(1)
    await settles()
    await driver.send({ label: 'late 3', from: 'bob', to: frank, valueWei: 3n })
    await driver.mine()
    await settles()
  })
})
