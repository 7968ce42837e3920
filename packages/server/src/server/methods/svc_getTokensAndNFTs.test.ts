import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HoldingCandidate, SyncStatus } from '@chain-data/index'
import {
  buildChain,
  commitChain,
  hashOf,
  openSqliteReader,
  openSqliteWriter,
  people
} from '@chain-data/index/test'
import { afterEach, describe, expect, it } from 'vitest'
import type { EvmHoldings, HoldingsRequest } from '../../evm/holdings/holdings.ts'
import { BlockLostError } from '../../evm/state/pinBlock.ts'
import type { ReadDocuments } from '../../model/documents.ts'
import { createAddressFormat } from '../../platform/addressFormat.ts'
import { createGetTokensAndNFTs } from './svc_getTokensAndNFTs.ts'

const alice = people[3]!
const token = people[7]!
const otherToken = people[6]!
const context = { chainId: 1, signal: new AbortController().signal, deadlineMs: Date.now() + 25_000 }
const candidates: HoldingCandidate[] = [
  { owner: alice, contract: token, standard: 'erc721', tokenId: 7n },
  { owner: alice, contract: token, standard: 'erc20' }
]

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** The method over a real store with one block, and a node of which only the questions matter. */
async function start(
  options: {
    readonly isBackfilled?: boolean
    readonly serveWhileSyncing?: boolean
    readonly timesLost?: number
  } = {}
) {
  const { isBackfilled = true, serveWhileSyncing = false, timesLost = 0 } = options
  const lost = new Array<boolean>(timesLost).fill(true)
  const folder = await mkdtemp(join(tmpdir(), 'chain-data-holdings-'))
  cleanUps.push(() => rm(folder, { recursive: true }))
  const writer = await openSqliteWriter(folder, { chainId: 1, genesisHash: hashOf('genesis') })
  cleanUps.push(() => writer.close())
  const blocks = buildChain([[{ name: 'a', parties: [alice], candidates }]], { firstNumber: 5 })
  await commitChain(writer, blocks)
  if (isBackfilled) await writer.markBackfilled()
  const reader = await openSqliteReader(folder, 1, { maxSnapshots: 1 })
  cleanUps.push(() => reader.close())

  const asked: HoldingsRequest[] = []
  const holdings: EvmHoldings = {
    async readHoldings(request) {
      asked.push(request)
      if (lost.shift()) throw new BlockLostError({ number: 5, hash: hashOf('a'), timestampSeconds: 1 })
      // With one snapshot at a time this waits for ever if the method still holds its own.
      await (await reader.openSnapshot()).close()
      const nft = { address: token, balance: 1n, name: '', symbol: '' }
      return {
        asOf: { number: 5, hash: hashOf('x'), timestampSeconds: 1 },
        nativeWei: 2n ** 70n,
        tokens: [{ address: token, amount: 1n, decimals: 0, name: '', symbol: '' }],
        nfts: [
          { ...nft, standard: 'erc721', tokenId: 1n, tokenUri: '' },
          { ...nft, standard: 'erc721', tokenId: 2n, tokenUri: 'ipfs://two' },
          { ...nft, standard: 'erc1155', tokenId: 3n, tokenUri: 'https://x/{id}' },
          { ...nft, address: otherToken, standard: 'erc721', tokenId: 4n, tokenUri: 'ipfs://four' }
        ],
        incomplete: []
      }
    }
  }
  const wanted: unknown[] = []
  const readDocuments: ReadDocuments = async requests => {
    wanted.push(...requests)
    return requests.map(({ uri }) => ({ data: { uri }, image: `image of ${uri}` }))
  }
  const chain = {
    chainId: 1,
    reader,
    holdings,
    current: {
      chainId: 1,
      phase: 'following',
      head: 9,
      indexedFrom: 5,
      backfilled: isBackfilled,
      degraded: false,
      poolCovered: false
    } as SyncStatus,
    status: () => chain.current,
    listed: () => ({ name: '', symbol: '', image: 'logo' }),
    judge: () => undefined
  }
  const method = createGetTokensAndNFTs({
    chains: new Map([[1, chain]]),
    readDocuments,
    metadataWaitMs: 3_000,
    serveWhileSyncing,
    formatAddress: createAddressFormat()
  })
  return { method, asked, wanted, chain, lastBlock: blocks[0]! }
}

describe('svc_getTokensAndNFTs', () => {
  it('asks the node about every candidate at the last indexed block, holding no snapshot meanwhile', async () => {
    const { method, asked, lastBlock } = await start()
    await method([alice.toUpperCase().replace('X', 'x'), [token.toUpperCase().replace('X', 'x')]], context)
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({
      address: alice,
      filter: [token],
      candidates: expect.arrayContaining(candidates),
      at: { ...lastBlock.ref, timestampSeconds: lastBlock.timestampSeconds }
    })
  })

  it('asks index and node again while no node reads the block that the index is at', async () => {
    const { method, asked, lastBlock } = await start({ timesLost: 2 })
    await method([alice], context)
    expect(asked).toHaveLength(3)
    expect(new Set(asked.map(({ at }) => at?.hash))).toEqual(new Set([lastBlock.ref.hash]))
    expect(new Set(asked.map(({ branch }) => branch)).size).toBe(1)
  })

  it('asks for metadata of collections in turns, the id only where the standard replaces it, and puts each to its NFT', async () => {
    const { method, wanted } = await start()
    const answer = await method([alice], context)
    expect(wanted).toEqual([
      { uri: 'ipfs://two' },
      { uri: 'ipfs://four' },
      { uri: 'https://x/{id}', tokenId: 3n }
    ])
    expect(answer).toMatchObject({
      native: String(2n ** 70n),
      tokens: [{ image: 'logo' }],
      nfts: [
        { tokenId: '1', image: '', data: {} },
        { tokenId: '2', image: 'image of ipfs://two', data: { uri: 'ipfs://two' } },
        { tokenId: '3', image: 'image of https://x/{id}' },
        { tokenId: '4', image: 'image of ipfs://four' }
      ]
    })
  })

  it('is not answered before the index has reached the head', async () => {
    const syncing = await start({ isBackfilled: false })
    await expect(syncing.method([alice], context)).rejects.toMatchObject({
      reason: 'NOT_SYNCED',
      data: { indexedTo: 5, head: 9 }
    })
    expect(syncing.asked).toEqual([])
  })

  it('is answered while older blocks are added, unless the host does not want it', async () => {
    const eager = await start({ serveWhileSyncing: true })
    eager.chain.current = { ...eager.chain.current, startBlock: 2 }
    await eager.method([alice], context)
    expect(eager.asked[0]).toHaveProperty('at')
    const strict = await start()
    strict.chain.current = { ...strict.chain.current, startBlock: 2 }
    await expect(strict.method([alice], context)).rejects.toMatchObject({ reason: 'NOT_SYNCED' })
    expect(strict.asked).toEqual([])
  })

  it('is not answered from an index that does not follow its node', async () => {
    const { method, asked, chain } = await start()
    chain.current = { ...chain.current, phase: 'stalled' }
    await expect(method([alice], context)).rejects.toMatchObject({ reason: 'UPSTREAM_UNAVAILABLE' })
    expect(asked).toEqual([])
  })
})
