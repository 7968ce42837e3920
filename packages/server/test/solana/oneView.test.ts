import { PublicKey } from '@solana/web3.js'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createSolanaNodes } from '../../src/nodes/solana/nodes.ts'
import { createSolanaRpc } from '../../src/nodes/solana/rpc.ts'
import { NATIVE_MINTS, TOKEN_PROGRAM } from '../../src/nodes/solana/solanaAddress.ts'
import { createSolanaHoldings } from '../../src/solana/holdings/holdings.ts'
import { mintBytes, tokenAccountBytes } from './accountBytes.ts'
import { addressOf, answerFrom, type ScriptedCluster, startScriptedCluster } from './startScriptedCluster.ts'
import type { Reaction, RpcCall } from './startScriptedNode.ts'

const owner = addressOf('owner')
const [coin, purse] = [addressOf('coin'), addressOf('purse')]
let cluster: ScriptedCluster
let slot: number

const holdingsAt = (url: string) =>
  createSolanaHoldings({
    rpc: createSolanaRpc({
      nodes: createSolanaNodes({ rpcUrls: [url], backoffMs: 1, maxAttempts: 2 }),
      commitment: 'confirmed'
    })
  })
const read = () => holdingsAt(cluster.url).readHoldings({ accountAddress: owner })

/** Puts the slot of the moment in place of the one that all answers have. */
function atSlot(reaction: Reaction): Reaction {
  if (typeof reaction === 'string' || !('body' in reaction)) return reaction
  return { ...reaction, body: reaction.body.replace(/"slot":\d+/, `"slot":${slot}`) }
}

function hold(amount: bigint, supply: bigint, mint = coin): void {
  const data = tokenAccountBytes(new PublicKey(mint), new PublicKey(owner), amount)
  cluster.accounts.set(purse, { owner: TOKEN_PROGRAM, data })
  cluster.accounts.set(mint, { owner: TOKEN_PROGRAM, data: mintBytes({ supply, decimals: 2 }) })
}

/** Lets something happen on the chain right before the first call for mints is answered. */
function beforeMints(happen: () => void): void {
  let happened = false
  cluster.react = call => {
    if (call.method === 'getMultipleAccounts' && !happened) {
      happened = true
      slot++
      happen()
    }
    return atSlot(answerFrom(cluster.accounts, call))
  }
}

const minContextSlots = (calls: readonly RpcCall[]) =>
  calls.map(({ params }) => (params.at(-1) as { minContextSlot?: number }).minContextSlot)

beforeEach(async () => {
  slot = 100
  cluster = await startScriptedCluster()
  cluster.react = call => atSlot(answerFrom(cluster.accounts, call))
})

afterEach(() => cluster.close())

it('tokens that are burned while they are read appear as they are after it, not with a balance above the supply', async () => {
  hold(70n, 100n)
  beforeMints(() => hold(20n, 50n))
  const { tokens, incomplete, asOf } = await read()
  expect(tokens).toMatchObject([{ mint: coin, amount: 20n }])
  expect(incomplete).toEqual([])
  expect(asOf).toEqual({ slot: 101 })
  // 3 and 1, then both again, and nothing of the second read may be older than what the first has seen.
  expect(minContextSlots(cluster.calls)).toEqual([undefined, undefined, undefined, 100, 101, 101, 101, 101])
})

it('several accounts of one mint are held against its supply together', async () => {
  hold(70n, 100n)
  cluster.accounts.set(addressOf('second purse'), cluster.accounts.get(purse)!)
  const { tokens, incomplete } = await read()
  expect(tokens).toEqual([])
  expect(incomplete.map(({ reason }) => reason)).toEqual(['BALANCE_UNREADABLE', 'BALANCE_UNREADABLE'])
})

it('a balance that stays above the supply is named and left out, after three reads', async () => {
  hold(70n, 50n)
  const { tokens, nfts, incomplete } = await read()
  expect([tokens, nfts]).toEqual([[], []])
  expect(incomplete).toEqual([{ address: purse, reason: 'BALANCE_UNREADABLE' }])
  expect(cluster.calls).toHaveLength(3 * 4)
})

it.each([...NATIVE_MINTS])('wrapped SOL (%s) is a token although its mint counts no supply', async mint => {
  hold(70n, 0n, mint)
  expect((await read()).tokens).toMatchObject([{ mint, amount: 70n, decimals: 2 }])
  expect(cluster.calls).toHaveLength(4)
})

it('the slot told is that of the oldest part, and the mints are not older than the newest', async () => {
  hold(1n, 1n)
  // A cluster that goes on between any two calls.
  cluster.react = call => {
    slot++
    return atSlot(answerFrom(cluster.accounts, call))
  }
  const { asOf } = await read()
  const [lookup] = minContextSlots(cluster.calls).slice(-1)
  const told = cluster.calls.length
  expect(asOf.slot).toBeGreaterThan(100)
  expect(asOf.slot).toBeLessThanOrEqual(lookup ?? 0)
  expect(lookup).toBe(100 + told - 1)
})

it('a mint that closes while it is read is named, and its account is not listed', async () => {
  hold(1n, 1n)
  beforeMints(() => cluster.accounts.delete(coin))
  const { tokens, incomplete } = await read()
  expect(tokens).toEqual([])
  expect(incomplete).toEqual([{ address: coin, reason: 'MINT_UNREADABLE' }])
})
