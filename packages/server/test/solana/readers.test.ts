import { createHash } from 'node:crypto'
import { PublicKey } from '@solana/web3.js'
import { beforeEach, describe, expect, it } from 'vitest'
import type { RawAccount } from '../../src/nodes/solana/readAnswers.ts'
import type { SolanaRpc } from '../../src/nodes/solana/rpc.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../src/nodes/solana/solanaAddress.ts'
import { NodeRpcError } from '../../src/platform/errors.ts'
import { createSolanaHoldings } from '../../src/solana/holdings/holdings.ts'
import {
  extendedMintBytes,
  metadataPointer,
  mintBytes,
  tokenAccountBytes,
  tokenMetadata
} from './accountBytes.ts'

/** A key by its name, the same on every run. */
const keyOf = (name: string) => new PublicKey(createHash('sha256').update(name).digest())
const addressOf = (name: string) => keyOf(name).toBase58()
const owner = keyOf('owner')
const keeperProgram = addressOf('a program that keeps metadata')

/** A node's accounts, which a test may change between two calls. */
let accounts: Map<string, RawAccount>
let owned: { readonly address: string; readonly owner: string; readonly data: Uint8Array }[]
/** Keys of each `getMultipleAccounts`. */
let lookups: (readonly string[])[]
/** How much of each account they wanted; `undefined` for all of it. */
let slices: (number | undefined)[]
let beforeLookup: (count: number) => void

const unused = () => Promise.reject(new Error('nobody should ask for this'))
const node: SolanaRpc = {
  getBalance: async () => ({ slot: 5, value: 7n }),
  getTokenAccountsByOwner: async (_owner, programId) => ({
    slot: 5,
    value: owned.filter(account => account.owner === programId)
  }),
  async getMultipleAccounts(keys, { dataSlice } = {}) {
    lookups.push(keys)
    slices.push(dataSlice?.length)
    beforeLookup(lookups.length)
    const value = keys.map(key => {
      const account = accounts.get(key)
      return account && { ...account, data: account.data.subarray(0, dataSlice?.length) }
    })
    return { slot: 5, value }
  },
  ...{ getProgramAccounts: unused, call: unused }
}
const read = (rpc = node) => createSolanaHoldings({ rpc }).readHoldings({ accountAddress: owner.toBase58() })

/** One unit of a mint in an account of the owner. */
function hold(label: string, programId: string, data: Uint8Array): string {
  const mint = keyOf(label)
  accounts.set(mint.toBase58(), { owner: programId, data })
  const bytes = tokenAccountBytes(mint, owner)
  owned.push({ address: addressOf(`account of ${label}`), owner: programId, data: bytes })
  return mint.toBase58()
}

const pointingTo = (name: string) => extendedMintBytes([metadataPointer(keyOf(name).toBytes())])

/** Metadata of a mint in an account of a program that keeps it by the interface. */
function keep(name: string, label: string, of = label) {
  const [, value] = tokenMetadata(new Uint8Array(32), keyOf(of).toBytes(), `Name of ${label}`)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(value.length)
  const data = Buffer.concat([Buffer.from([112, 132, 90, 90, 11, 88, 157, 87]), length, value])
  accounts.set(addressOf(name), { owner: keeperProgram, data })
}

beforeEach(() => {
  accounts = new Map()
  owned = []
  lookups = []
  slices = []
  beforeLookup = () => {}
})

describe('token accounts that come along with others', () => {
  it('are named one by one when they are no token accounts, and the others are kept', async () => {
    const sound = hold('sound', TOKEN_PROGRAM, mintBytes({ supply: 1n, decimals: 3 }))
    const along: [string, string, Uint8Array][] = [
      ['a multisig', TOKEN_PROGRAM, Buffer.alloc(355, 1)],
      ['a multisig of Token-2022', TOKEN_2022_PROGRAM, Buffer.alloc(355, 1)],
      ['a mint', TOKEN_PROGRAM, mintBytes({ supply: 1n, decimals: 0 })],
      ['a mint of Token-2022', TOKEN_2022_PROGRAM, extendedMintBytes([])],
      ['zeros', TOKEN_PROGRAM, Buffer.alloc(165)],
      ['nothing', TOKEN_2022_PROGRAM, Buffer.alloc(0)]
    ]
    for (const [name, programId, data] of along)
      owned.push({ address: addressOf(name), owner: programId, data })
    const { tokens, incomplete } = await read()
    expect(tokens.map(({ mint }) => mint)).toEqual([sound])
    expect(incomplete).toEqual(
      along
        .map(([name]) => ({ address: addressOf(name), reason: 'BALANCE_UNREADABLE' }))
        .sort((a, b) => (a.address < b.address ? -1 : 1))
    )
  })

  it.each([TOKEN_PROGRAM, TOKEN_2022_PROGRAM])('are an error when %s cannot be asked', async programId => {
    hold('sound', TOKEN_PROGRAM, mintBytes({ supply: 1n, decimals: 3 }))
    const failure = new NodeRpcError('refused', -32_010, undefined)
    const half: SolanaRpc = {
      ...node,
      getTokenAccountsByOwner: (address, id, options) =>
        id === programId ? Promise.reject(failure) : node.getTokenAccountsByOwner(address, id, options)
    }
    await expect(read(half)).rejects.toBe(failure)
  })
})

describe('metadata that a mint keeps elsewhere', () => {
  it('is read with one more call, whatever the number of mints that do', async () => {
    for (let at = 0; at < 49; at++) {
      hold(`mint ${at}`, TOKEN_2022_PROGRAM, pointingTo(`keeper ${at}`))
      keep(`keeper ${at}`, `mint ${at}`)
    }
    hold('plain', TOKEN_PROGRAM, mintBytes({ supply: 1n, decimals: 0 }))
    const { nfts, tokens, incomplete } = await read()
    expect(nfts.map(({ metadata }) => metadata.name).sort()).toEqual(
      Array.from({ length: 49 }, (_, at) => `Name of mint ${at}`).sort()
    )
    expect([tokens.length, incomplete]).toEqual([1, []])
    expect(lookups.map(keys => keys.length)).toEqual([100, 98])
  })

  it('costs no call where no mint does that', async () => {
    for (let at = 0; at < 51; at++) {
      hold(`mint ${at}`, TOKEN_PROGRAM, mintBytes({ supply: 1n, decimals: 0 }))
    }
    await read()
    expect(lookups.map(keys => keys.length).sort()).toEqual([100, 2])
  })

  it('is none where there is no such account, or one that holds lamports only', async () => {
    hold('void', TOKEN_2022_PROGRAM, pointingTo('nobody'))
    hold('dust', TOKEN_2022_PROGRAM, pointingTo('lamports'))
    accounts.set(addressOf('lamports'), { owner: '1'.repeat(32), data: new Uint8Array(0) })
    const { nfts, tokens, incomplete } = await read()
    expect([nfts.length, tokens.length, incomplete]).toEqual([0, 2, []])
  })

  it('is unreadable where the account says something else, and its neighbours are not', async () => {
    const mints = ['of another', 'junk', 'a token account'].map(label =>
      hold(label, TOKEN_2022_PROGRAM, pointingTo(`keeper of ${label}`))
    )
    keep('keeper of of another', 'of another', 'somebody')
    accounts.set(addressOf('keeper of junk'), { owner: keeperProgram, data: Buffer.alloc(300, 9) })
    const account = { owner: TOKEN_PROGRAM, data: tokenAccountBytes(keyOf('x'), owner) }
    accounts.set(addressOf('keeper of a token account'), account)
    hold('sound', TOKEN_2022_PROGRAM, pointingTo('keeper'))
    keep('keeper', 'sound')
    const { nfts, tokens, incomplete } = await read()
    expect(nfts.map(({ metadata }) => metadata.name)).toEqual(['Name of sound'])
    expect(tokens.map(({ mint }) => mint)).toEqual([...mints].sort())
    expect(incomplete).toEqual([...mints].sort().map(address => ({ address, reason: 'METADATA_UNREADABLE' })))
  })

  it('is not read further than a mint can be long, so that a huge account does not fill the answer', async () => {
    const mint = hold('huge', TOKEN_2022_PROGRAM, pointingTo('warehouse'))
    const data = Buffer.alloc(10 * 1024 * 1024)
    Buffer.from([112, 132, 90, 90, 11, 88, 157, 87]).copy(data)
    data.writeUInt32LE(data.length - 12, 8)
    accounts.set(addressOf('warehouse'), { owner: keeperProgram, data })
    hold('sound', TOKEN_2022_PROGRAM, pointingTo('keeper'))
    keep('keeper', 'sound')
    const { nfts, incomplete } = await read()
    expect(slices).toEqual([undefined, 71_680])
    expect(nfts.map(({ metadata }) => metadata.name)).toEqual(['Name of sound'])
    expect(incomplete).toEqual([{ address: mint, reason: 'METADATA_UNREADABLE' }])
  })

  it('is unreadable where the pointer moves on between the two calls', async () => {
    const mint = hold('moving', TOKEN_2022_PROGRAM, pointingTo('first'))
    keep('first', 'moving')
    keep('second', 'moving')
    beforeLookup = count => {
      if (count === 2) accounts.set(mint, { owner: TOKEN_2022_PROGRAM, data: pointingTo('second') })
    }
    const { nfts, tokens, incomplete } = await read()
    expect([nfts.length, tokens.length]).toEqual([0, 1])
    expect(incomplete).toEqual([{ address: mint, reason: 'METADATA_UNREADABLE' }])
    expect(lookups.length).toBe(2)
  })

  it('is taken from the mint where the mint takes it in between the two calls', async () => {
    const mint = hold('moving', TOKEN_2022_PROGRAM, pointingTo('first'))
    beforeLookup = count => {
      if (count !== 2) return
      const key = keyOf('moving').toBytes()
      const data = extendedMintBytes([metadataPointer(key), tokenMetadata(key, key, 'Home')])
      accounts.set(mint, { owner: TOKEN_2022_PROGRAM, data })
    }
    const { nfts, incomplete } = await read()
    expect([nfts.map(({ metadata }) => metadata.name), incomplete]).toEqual([['Home'], []])
  })

  it('goes with the mint when that is closed between the two calls', async () => {
    const mint = hold('closing', TOKEN_2022_PROGRAM, pointingTo('first'))
    keep('first', 'closing')
    beforeLookup = count => {
      if (count === 2) accounts.delete(mint)
    }
    const { nfts, tokens, incomplete } = await read()
    expect([nfts.length, tokens.length]).toEqual([0, 0])
    expect(incomplete).toEqual([{ address: mint, reason: 'MINT_UNREADABLE' }])
  })
})
