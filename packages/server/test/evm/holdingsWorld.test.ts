import {
  type AnvilNode,
  createEvmCalls,
  type EvmDriver,
  type EvmHoldingsTruth,
  evmAddressesOf,
  evmContract,
  evmHoldingsOf,
  type MetadataServer,
  seedEvmWorld,
  startAnvil,
  startMetadataServer
} from '@chain-data/devnet'
import type { Address, HoldingCandidate } from '@chain-data/index'
import type { EvmHoldings as EvmHoldingsOnWire } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import { getAddress } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readLogs } from '../../src/evm/blocks/readLogs.ts'
import { createEvmHoldings } from '../../src/evm/holdings/holdings.ts'
import { shapeHoldings } from '../../src/evm/holdings/shapeHoldings.ts'
import { createGuardedFetch } from '../../src/features/metadata/guardedFetch.ts'
import { createMetadataService, type MetadataService } from '../../src/features/metadata/metadataService.ts'
import { createEvmRpc, type EvmUpstreams } from '../../src/nodes/evm/rpc.ts'
import { createAddressFormat } from '../../src/platform/addressFormat.ts'

let anvil: AnvilNode
let host: MetadataServer
let driver: EvmDriver
let rpc: EvmUpstreams
let metadata: MetadataService
let candidates: HoldingCandidate[]

beforeAll(async () => {
  anvil = await startAnvil()
  host = await startMetadataServer()
  driver = await seedEvmWorld(anvil.rpcUrl, { metadata: host, pool: false })
  rpc = createEvmRpc({ chainId: anvil.chainId, rpcUrls: [anvil.rpcUrl] })
  const allowHosts = [host.hostPort]
  metadata = createMetadataService({
    guardedFetch: createGuardedFetch({ allowHosts }),
    gateways: { ipfs: [host.url], arweave: [] },
    allowHosts
  })
  candidates = await candidatesOfChain()
})

afterAll(async () => {
  metadata?.close()
  rpc?.close()
  await host?.stop()
  await anvil?.stop()
})

/** From every receipt of the chain, as an index would have them. */
async function candidatesOfChain(): Promise<HoldingCandidate[]> {
  const blocks = driver.world.blocks.map(({ number }) => ({
    method: 'eth_getBlockReceipts',
    params: [`0x${number.toString(16)}`]
  }))
  const answers = await rpc.batch(blocks)
  return answers.flatMap(answer => {
    if (!answer.ok) throw answer.error
    return (answer.value as { logs: unknown[] }[]).flatMap(receipt => readLogs(receipt.logs).candidates)
  })
}

async function holdingsOf(address: string, filter: readonly string[] = []): Promise<EvmHoldingsOnWire> {
  const owner = address.toLowerCase() as Address
  const held = await createEvmHoldings({ rpc, chainId: anvil.chainId }).readHoldings({
    address: owner,
    candidates: candidates.filter(candidate => candidate.owner === owner),
    filter: filter.map(contract => contract.toLowerCase() as Address)
  })
  const requests = held.nfts.map(({ standard, tokenId, tokenUri }) =>
    standard === 'erc1155' ? { uri: tokenUri, tokenId } : { uri: tokenUri }
  )
  const found = await metadata.readAll(requests)
  return shapeHoldings(held, {
    metadata: found,
    ...{ listed: () => undefined, judge: () => undefined, formatAddress: createAddressFormat() }
  })
}

const byKey = <T>(items: readonly T[], key: (item: T) => string) =>
  new Map(items.map(item => [key(item), item]))

function expectToBe(answer: EvmHoldingsOnWire, truth: EvmHoldingsTruth): void {
  const tokens = byKey(answer.tokens, token => token.address)
  expect([...tokens.keys()].sort()).toEqual(truth.tokens.map(({ contract }) => contract.address).sort())
  for (const { contract, amount } of truth.tokens) {
    const { address, decimals, name, symbol } = contract
    expect(tokens.get(address)).toEqual({
      address,
      decimals,
      name,
      symbol,
      amount: amount.toString(),
      image: ''
    })
  }
  const keyOf = (address: string, tokenId: unknown) => `${address} ${tokenId}`
  const nfts = byKey(answer.nfts, nft => keyOf(nft.address, nft.tokenId))
  expect([...nfts.keys()].sort()).toEqual(
    truth.nfts.map(({ contract, tokenId }) => keyOf(contract.address, tokenId)).sort()
  )
  for (const { contract, tokenId, balance, isSemiFungible, tokenUri, document } of truth.nfts) {
    const json = document?.json
    const nft = nfts.get(keyOf(contract.address, tokenId))
    expect(nft).toMatchObject({
      address: contract.address,
      isSemiFungible,
      tokenId: tokenId.toString(),
      tokenBalance: balance.toString(),
      tokenURI: tokenUri,
      symbol: contract.symbol
    })
    expect(nft?.data).toEqual(json ?? {})
    expect(nft?.name).toBe(typeof json?.name === 'string' ? json.name : contract.name)
    if (json === undefined) expect(nft?.image).toBe('')
  }
  const unavailable = truth.nfts.filter(nft => nft.tokenUri !== '' && nft.document?.json === undefined)
  expect(answer.incomplete ?? []).toHaveLength(unavailable.length)
  expect(new Set((answer.incomplete ?? []).map(({ reason }) => reason))).toEqual(
    new Set(unavailable.map(() => 'METADATA_UNAVAILABLE'))
  )
}

describe('a known world', () => {
  test('every account holds exactly what the story gave it', async () => {
    const addresses = evmAddressesOf(driver.world)
    expect(addresses.length).toBeGreaterThan(5)
    let assets = 0
    for (const address of addresses) {
      const answer = await holdingsOf(address)
      const truth = evmHoldingsOf(driver.world, address)
      expectToBe(answer, truth)
      expect(checkResult('svc_getTokensAndNFTs', answer), address).toBeUndefined()
      const balance = await rpc.request({ method: 'eth_getBalance', params: [address, 'latest'] })
      expect(answer.native).toBe(BigInt(String(balance)).toString())
      assets += truth.tokens.length + truth.nfts.length
    }
    expect(assets).toBeGreaterThan(20)
  })

  test('pictures are shown from wherever the metadata keeps them', async () => {
    const answers = await Promise.all(evmAddressesOf(driver.world).map(address => holdingsOf(address)))
    const images = answers.flatMap(answer => answer.nfts).map(nft => nft.image)
    expect(images).toContain(`${host.url}/evm/art/1.svg`)
    expect(images.some(image => image.startsWith('data:image/'))).toBe(true)
    expect(images.some(image => image.startsWith(`${host.url}/ipfs/`))).toBe(true)
  })

  test('a listed token appears for an account that never had it', async () => {
    const tokens = Object.values(driver.world.contracts).filter(contract => contract.kind === 'erc20')
    const art = evmContract(driver.world, 'art')
    const nobody = getAddress(`0x${'5e'.repeat(20)}`)
    const answer = await holdingsOf(nobody, [...tokens.map(token => token.address), art.address])
    expect(answer.tokens.map(({ address, amount }) => [address, amount]).sort()).toEqual(
      tokens.map(({ address }) => [address, '0']).sort()
    )
    expect(answer.nfts).toEqual([])
    expect(answer.incomplete).toBeUndefined()
  })

  test('a transfer shows at once, and is gone after a reorg', async () => {
    const world = driver.world
    const owner = world.accounts.bob?.address ?? ''
    const before = await holdingsOf(owner)
    const art = evmContract(world, 'art')
    await driver.send({
      label: 'a late mint',
      ...createEvmCalls(world).erc721Mint('deployer', art, 'bob', 4242n, '')
    })
    await driver.mine()
    candidates = await candidatesOfChain()
    const after = await holdingsOf(owner)
    expectToBe(after, evmHoldingsOf(world, owner))
    expect(after.nfts).toHaveLength(before.nfts.length + 1)
    expect(after.asOf?.blockNumber).toBe((before.asOf?.blockNumber ?? 0) + 1)
    await driver.rollback(1)
    // The candidate stays: it is a hint only.
    const undone = await holdingsOf(owner)
    expect({ ...undone, asOf: undefined }).toEqual({ ...before, asOf: undefined })
  })
})
