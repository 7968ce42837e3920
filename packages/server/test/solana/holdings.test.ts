import { createHash } from 'node:crypto'
import {
  encodeMetadata,
  expectedSolanaHoldings,
  metadataAddress,
  metadataProgram,
  type SolanaDriver,
  type SurfpoolNode,
  seedSolanaWorld,
  solanaHoldingsOf,
  solanaOwner,
  startSurfpool,
  surfpoolUnsupportedReason
} from '@chain-data/devnet'
import { checkResult } from '@chain-data/protocol/validators'
import { PublicKey, SystemProgram } from '@solana/web3.js'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSolanaNodes } from '../../src/nodes/solana/nodes.ts'
import { createSolanaRpc } from '../../src/nodes/solana/rpc.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/nodes/solana/solanaAddress.ts'
import { NodeContradictionError, NodeRpcError, NodeUnavailableError } from '../../src/platform/errors.ts'
import { createSolanaHoldings } from '../../src/solana/holdings/holdings.ts'
import { shapeHoldings } from '../../src/solana/holdings/shapeHoldings.ts'
import {
  extendedMintBytes,
  metadataPointer,
  mintBytes,
  tokenAccountBytes,
  tokenMetadata
} from './accountBytes.ts'
import { answerOf, errorOf, type RpcCall, type ScriptedNode, startScriptedNode } from './startScriptedNode.ts'

const unsupported = surfpoolUnsupportedReason()
if (unsupported !== undefined) process.stdout.write(`skipped: ${unsupported}\n`)

/** A key by its name, the same on every run. */
const keyOf = (name: string) => new PublicKey(createHash('sha256').update(name).digest())
const program = (id: string) => new PublicKey(id)
const asJson = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? Number(member) : member)))

describe.skipIf(unsupported !== undefined)('Solana holdings on a real node', () => {
  let surfpool: SurfpoolNode
  let driver: SolanaDriver
  let proxy: ScriptedNode

  beforeAll(async () => {
    surfpool = await startSurfpool()
    driver = await seedSolanaWorld(surfpool, { seed: 11 })
    proxy = await startScriptedNode(() => ({ passOn: surfpool.rpcUrl }))
  })

  afterAll(async () => {
    await Promise.all([proxy?.close(), surfpool?.stop()])
  })

  beforeEach(() => {
    proxy.calls.length = 0
    proxy.react = () => ({ passOn: surfpool.rpcUrl })
  })

  const read = (accountAddress: string) => {
    const nodes = createSolanaNodes({ rpcUrls: [proxy.url], backoffMs: 1, maxAttempts: 2 })
    const rpc = createSolanaRpc({ nodes, commitment: 'confirmed' })
    return createSolanaHoldings({ rpc }).readHoldings({ accountAddress })
  }

  const inOrder = <T extends { mint: string; address: string }>(items: readonly T[]): T[] =>
    [...items].sort((a, b) => (a.mint + a.address < b.mint + b.address ? -1 : 1))

  it.each(['alice', 'bob', 'carol', 'dora', 'erin', 'frank', 'grace', 'nobody'])(
    'of %s are the seeded ones, field by field',
    async name => {
      const truth = expectedSolanaHoldings(driver.world, name, { parseMetadataUri: false, origin: '' })
      const holdings = await read(solanaOwner(driver.world, name).address)
      const shaped = shapeHoldings(holdings, new Map())
      expect(shaped).toStrictEqual({
        ...truth,
        nfts: inOrder(truth.nfts),
        tokens: inOrder(truth.tokens),
        asOf: { slot: holdings.asOf.slot }
      })
      expect(checkResult('enhancedGetTokensAndNFTs', asJson(shaped))).toBeUndefined()
    }
  )

  it('of a seeded world cover both extremes of what a number can be', () => {
    const amounts = driver.world.tokenAccounts.map(account => account.amount)
    expect(amounts).toContain(2n ** 64n - 1n)
    expect(solanaOwner(driver.world, 'dora').lamports).toBeGreaterThan(2n ** 63n)
  })

  it('are asked for in three calls at once and one for all mints, which is not older', async () => {
    const { asOf } = await read(solanaOwner(driver.world, 'alice').address)
    const first = ['getBalance', 'getTokenAccountsByOwner', 'getTokenAccountsByOwner']
    expect(
      proxy.calls
        .slice(0, 3)
        .map(call => call.method)
        .sort()
    ).toEqual(first)
    // A slot may end between the three; then those of the older one are asked again, twice at most.
    expect(proxy.calls.length).toBeLessThanOrEqual(3 * 3 + 1)
    const lookups = proxy.calls.filter(call => call.method === 'getMultipleAccounts')
    expect(lookups).toEqual([proxy.calls.at(-1)])
    const { minContextSlot } = lookups[0]!.params[1] as { minContextSlot: number }
    expect(minContextSlot).toBeGreaterThanOrEqual(asOf.slot)
  })

  it('follow a transfer', async () => {
    const { world } = driver
    const bobs = world.tokenAccounts.find(account => account.owner === 'bob' && account.mint === 'coin')
    const alices = world.tokenAccounts.find(account => account.owner === 'alice' && account.mint === 'coin')
    await driver.transfer(alices!, bobs!, 17n)
    const { tokens } = await read(solanaOwner(world, 'bob').address)
    expect(tokens.find(token => token.address === bobs!.address)?.amount).toBe(bobs!.amount)
  })

  describe('with one of their parts broken', () => {
    const isFor2022 = ({ params }: RpcCall) =>
      (params[1] as { programId?: string } | undefined)?.programId === TOKEN_2022_PROGRAM

    it('are an error, not a shorter list, when one program query is refused', async () => {
      proxy.react = call => (isFor2022(call) ? errorOf(call, -32602) : { passOn: surfpool.rpcUrl })
      await expect(read(solanaOwner(driver.world, 'bob').address)).rejects.toThrow(NodeRpcError)
    })

    it.each(['getBalance', 'getTokenAccountsByOwner', 'getMultipleAccounts'])(
      'are an error when %s gets no answer',
      async method => {
        const passOn = { passOn: surfpool.rpcUrl }
        proxy.react = call => (call.method === method ? { status: 503, body: '' } : passOn)
        await expect(read(solanaOwner(driver.world, 'bob').address)).rejects.toThrow(NodeUnavailableError)
      }
    )

    it('are a contradiction when the node lists accounts of somebody else', async () => {
      const bob = solanaOwner(driver.world, 'bob').address
      const alice = solanaOwner(driver.world, 'alice').address
      const rpc = createSolanaRpc({
        nodes: createSolanaNodes({ rpcUrls: [surfpool.rpcUrl] }),
        commitment: 'confirmed'
      })
      const { value } = await rpc.getTokenAccountsByOwner(alice, TOKEN_PROGRAM)
      const listed = value.map(({ address, owner, data }) => {
        const text = Buffer.from(data).toString('base64')
        const account = { data: [text, 'base64'], executable: false, lamports: 1, owner }
        return { pubkey: address, account }
      })
      proxy.react = call =>
        call.method === 'getTokenAccountsByOwner'
          ? answerOf(call, JSON.stringify(listed), 10 ** 9)
          : { passOn: surfpool.rpcUrl }
      await expect(read(bob)).rejects.toThrow(NodeContradictionError)
    })

    it('are a contradiction when the node lists one account twice', async () => {
      const twice = (text: string) => text.replace(/"value":\[(.+)\]/s, '"value":[$1,$1]')
      proxy.react = call => ({
        passOn: surfpool.rpcUrl,
        change: call.method === 'getTokenAccountsByOwner' ? twice : text => text
      })
      await expect(read(solanaOwner(driver.world, 'bob').address)).rejects.toThrow(NodeContradictionError)
    })

    it('end the calls that are still under way', async () => {
      const rpc = createSolanaRpc({
        nodes: createSolanaNodes({ rpcUrls: [surfpool.rpcUrl] }),
        commitment: 'confirmed'
      })
      const failure = new NodeUnavailableError('down')
      let ended = false
      const halfDown: typeof rpc = {
        ...rpc,
        getTokenAccountsByOwner(_owner, programId, options) {
          if (programId === TOKEN_2022_PROGRAM) return Promise.reject(failure)
          return new Promise((_resolve, reject) => {
            options?.signal?.addEventListener('abort', () => {
              ended = true
              reject(options.signal?.reason)
            })
          })
        }
      }
      const { address } = solanaOwner(driver.world, 'bob')
      const reading = createSolanaHoldings({ rpc: halfDown }).readHoldings({ accountAddress: address })
      await expect(reading).rejects.toBe(failure)
      expect(ended).toBe(true)
    })

    it('name a token account whose bytes are refused, and keep the others', async () => {
      const bob = solanaOwner(driver.world, 'bob').address
      const rpc = createSolanaRpc({
        nodes: createSolanaNodes({ rpcUrls: [surfpool.rpcUrl] }),
        commitment: 'confirmed'
      })
      const broken = keyOf('a broken token account').toBase58()
      const odd: typeof rpc = {
        ...rpc,
        async getTokenAccountsByOwner(owner, programId, options) {
          const { slot, value } = await rpc.getTokenAccountsByOwner(owner, programId, options)
          if (programId !== TOKEN_PROGRAM) return { slot, value }
          return {
            slot,
            value: [{ address: broken, owner: TOKEN_PROGRAM, data: Buffer.alloc(165) }, ...value]
          }
        }
      }
      const holdings = await createSolanaHoldings({ rpc: odd }).readHoldings({ accountAddress: bob })
      expect(holdings.incomplete).toEqual([{ address: broken, reason: 'BALANCE_UNREADABLE' }])
      expect(holdings.tokens).toHaveLength(solanaHoldingsOf(driver.world, 'bob').tokens.length)
    })
  })

  describe('with accounts that no program would write', () => {
    const ownerKey = keyOf('owner')
    const owner = ownerKey.toBase58()
    const authority = new Uint8Array(32).fill(3)
    const foreign = keyOf('foreign').toBytes()
    const mints = new Map<string, PublicKey>()

    /** A mint and one token account of it with one unit, both written as bytes. */
    async function hold(label: string, programId: string, mintData: (mint: PublicKey) => Buffer | undefined) {
      const mint = keyOf(`mint ${label}`)
      mints.set(label, mint)
      const data = mintData(mint)
      if (data !== undefined) await driver.setAccount(mint.toBase58(), data, program(programId))
      const account = keyOf(`account of ${label}`).toBase58()
      await driver.setAccount(account, tokenAccountBytes(mint, ownerKey), program(programId))
    }

    const metaplexBytes = (mint: PublicKey, name: string) =>
      encodeMetadata(
        {
          ...{ updateAuthority: owner, mint: mint.toBase58(), name, symbol: '', uri: '' },
          ...{ sellerFeeBasisPoints: 0, primarySaleHappened: false, isMutable: true }
        },
        607
      )

    async function describeMint(label: string, data: Uint8Array, by: PublicKey = metadataProgram) {
      await driver.setAccount(metadataAddress(mints.get(label)!.toBase58()), data, by)
    }

    const plain = () => mintBytes({ supply: 1n, decimals: 0 })
    let holdings: Awaited<ReturnType<typeof read>>

    beforeAll(async () => {
      await hold('closed', TOKEN_2022_PROGRAM, () => undefined)
      for (const label of ['truncated', 'zeroed', 'dusted', 'wrong kind', 'of another mint', 'sound']) {
        await hold(label, TOKEN_PROGRAM, plain)
      }
      const key = (label: string) => mints.get(label)!
      await describeMint('truncated', metaplexBytes(key('truncated'), 'cut').subarray(0, 150))
      await describeMint('zeroed', Buffer.alloc(679))
      await describeMint('dusted', Buffer.alloc(0), SystemProgram.programId)
      await describeMint('wrong kind', metaplexBytes(key('wrong kind'), 'kind').fill(6, 0, 1))
      await describeMint('of another mint', metaplexBytes(key('sound'), 'stolen'))
      await describeMint('sound', metaplexBytes(key('sound'), 'Sound'))

      const self = (mint: PublicKey) => tokenMetadata(authority, mint.toBytes(), 'Inside')
      const metaplexOf = (mint: PublicKey) => program(metadataAddress(mint.toBase58())).toBytes()
      await hold('pointing to Metaplex', TOKEN_2022_PROGRAM, mint =>
        extendedMintBytes([metadataPointer(metaplexOf(mint)), self(mint)])
      )
      await describeMint('pointing to Metaplex', metaplexBytes(key('pointing to Metaplex'), 'Outside'))
      await hold('pointing to itself', TOKEN_2022_PROGRAM, mint =>
        extendedMintBytes([metadataPointer(mint.toBytes()), self(mint)])
      )
      await describeMint('pointing to itself', metaplexBytes(key('pointing to itself'), 'Outside'))
      await hold('pointing elsewhere', TOKEN_2022_PROGRAM, mint =>
        extendedMintBytes([metadataPointer(foreign), self(mint)])
      )
      await hold('without a pointer', TOKEN_2022_PROGRAM, () => extendedMintBytes([]))
      await describeMint('without a pointer', metaplexBytes(key('without a pointer'), 'Outside'))
      await hold('naming another mint', TOKEN_2022_PROGRAM, mint =>
        extendedMintBytes([metadataPointer(mint.toBytes()), self(ownerKey)])
      )
      holdings = await read(owner)
    })

    const mintOf = (label: string) => mints.get(label)!.toBase58()
    const reasonOf = (label: string) =>
      holdings.incomplete.find(({ address }) => address === mintOf(label))?.reason
    const listed = (label: string) => ({
      nft: holdings.nfts.find(({ mint }) => mint === mintOf(label))?.metadata.name,
      token: holdings.tokens.some(({ mint }) => mint === mintOf(label))
    })

    it('leave a closed mint out of the lists and name it', () => {
      expect(reasonOf('closed')).toBe('MINT_UNREADABLE')
      expect(listed('closed')).toEqual({ nft: undefined, token: false })
    })

    it.each(['truncated', 'wrong kind', 'of another mint', 'naming another mint'])(
      'show an asset whose metadata is %s as a token and name it',
      label => {
        expect(reasonOf(label)).toBe('METADATA_UNREADABLE')
        expect(listed(label)).toEqual({ nft: undefined, token: true })
      }
    )

    it.each(['zeroed', 'dusted'])('take a %s metadata account for none', label => {
      expect(reasonOf(label)).toBeUndefined()
      expect(listed(label)).toEqual({ nft: undefined, token: true })
    })

    it.each([
      ['sound', 'Sound'],
      ['pointing to Metaplex', 'Outside'],
      ['pointing to itself', 'Inside'],
      ['without a pointer', 'Outside']
    ])('take the metadata of a mint %s from where it belongs', (label, name) => {
      expect(listed(label)).toEqual({ nft: name, token: false })
    })

    it('take no metadata from a mint whose pointer names another account', () => {
      expect(listed('pointing elsewhere')).toEqual({ nft: undefined, token: true })
      expect(reasonOf('pointing elsewhere')).toBeUndefined()
    })

    it('are valid on the wire, incomplete entries ordered and each named once', () => {
      const shaped = shapeHoldings(holdings, new Map())
      expect(checkResult('enhancedGetTokensAndNFTs', asJson(shaped))).toBeUndefined()
      const addresses = holdings.incomplete.map(({ address }) => address)
      expect(addresses).toHaveLength(5)
      expect(addresses).toEqual([...new Set(addresses)].sort())
    })
  })
})
