import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AnvilNode,
  type EvmWorld,
  evmAccount,
  evmContract,
  evmTransaction,
  expectedEvmHoldings,
  expectedRecord,
  seedEvmWorld,
  startAnvil
} from '../src/index.ts'

let node: AnvilNode
let world: EvmWorld

beforeAll(async () => {
  node = await startAnvil()
  world = (await seedEvmWorld(node.rpcUrl)).world
})

afterAll(async () => {
  await node?.stop()
})

const address = (name: string) => evmAccount(world, name).address

test('a confirmed blob transaction has every field of the wire, its fee counting gas and blob', () => {
  const sent = evmTransaction(world, 'blob transfer')
  expect(expectedRecord(world, sent)).toEqual({
    ...{
      hash: sent.hash,
      from: address('dave'),
      to: address('alice'),
      value: '0x7',
      data: '0x',
      nonce: 0,
      type: 3
    },
    ...{ gasLimit: 100_000, timestamp: 1_700_000_048, status: 3, accessList: [], blockNumber: 4 },
    ...{ maxFeePerGas: '0xee6b2800', maxPriorityFeePerGas: '0x3b9aca00', gasPrice: '0x77359400' },
    ...{
      maxFeePerBlobGas: '0x3b9aca00',
      blobVersionedHashes: ['0x010657f37554c781402a22917dee2f75def7ab966d7b770905398eba3c444014']
    },
    ...{ gasSpent: '0x5208', fees: `0x${(21_000n * 2_000_000_000n + 131_072n).toString(16)}` }
  })
})

test('a legacy transaction has no access list and no caps, a creation no receiver but a contract', () => {
  expect(Object.keys(expectedRecord(world, evmTransaction(world, 'legacy transfer'))).sort()).toEqual(
    ['hash', 'from', 'to', 'value', 'data', 'gasLimit', 'nonce', 'type', 'status', 'timestamp', 'gasPrice']
      .concat(['gasSpent', 'fees', 'blockNumber'])
      .sort()
  )
  const created = expectedRecord(world, evmTransaction(world, 'creation of GLD'), 700_000n)
  expect(created).not.toHaveProperty('to')
  expect(created).toMatchObject({ contractAddress: evmContract(world, 'gold').address, gasSpent: '0xaae60' })
})

test('a failed creation has a fee and no contract address', () => {
  const failed = expectedRecord(world, evmTransaction(world, 'creation that burns all gas'))
  expect(failed).toMatchObject({ status: 4, gasSpent: '0x12fd1' })
  expect(failed).not.toHaveProperty('contractAddress')
  expect(failed).toHaveProperty('fees')
})

test('pending and queued transactions have what was signed and nothing of a block', () => {
  const pending = expectedRecord(world, evmTransaction(world, 'pending transfer'))
  expect(pending).toMatchObject({ status: 1, maxFeePerGas: '0xee6b2800' })
  for (const key of ['gasPrice', 'gasSpent', 'fees', 'blockNumber', 'timestamp']) {
    expect(pending).not.toHaveProperty(key)
  }
  const legacy = expectedRecord(world, evmTransaction(world, 'pending legacy transfer'))
  expect(legacy).toMatchObject({ status: 1, gasPrice: '0x12a05f200' })
  expect(expectedRecord(world, evmTransaction(world, 'queued transfer')).status).toBe(0)
})

test('NFTs take name, image and data from their metadata, and the contract name where there is none', () => {
  const origin = 'http://metadata.invalid'
  const { tokens, nfts } = expectedEvmHoldings(world, address('carol'), origin)
  expect(tokens).toHaveLength(1)
  expect(tokens[0]).toMatchObject({ decimals: 18, name: 'Devnet Gold', symbol: 'GLD', image: '' })
  expect(nfts).toEqual([
    {
      ...{
        address: evmContract(world, 'art').address,
        isSemiFungible: false,
        tokenId: '6',
        tokenBalance: '1'
      },
      tokenURI: 'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/6.json',
      ...{ name: 'Pinned', symbol: 'ART' },
      image: `${origin}/ipfs/bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/6.svg`,
      data: {
        name: 'Pinned',
        image: 'ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/6.svg'
      }
    }
  ])
  const missing = expectedEvmHoldings(world, address('alice'), origin).nfts.find(nft => nft.tokenId === '3')
  expect(missing).toMatchObject({ name: 'Devnet Art', image: '', data: {} })
})
