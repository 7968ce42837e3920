import { PublicKey } from '@solana/web3.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSolanaHoldings } from '../../src/chains/solana/holdings.ts'
import { createSolanaRpc } from '../../src/chains/solana/rpc.ts'
import { TOKEN_PROGRAM } from '../../src/chains/solana/solanaAddress.ts'
import { mintBytes, tokenAccountBytes } from './accountBytes.ts'
import { answerOf, type RpcCall, type ScriptedNode, startScriptedNode } from './startScriptedNode.ts'

const accountCount = 5_000
const owner = new PublicKey(new Uint8Array(32).fill(9))

/** The n-th key of a kind, the same on every run. */
function keyOf(kind: number, n: number): PublicKey {
  const bytes = Buffer.alloc(32, kind)
  bytes.writeUInt32LE(n, 1)
  return new PublicKey(bytes)
}

const accountJson = (data: Buffer) =>
  `{"data":["${data.toString('base64')}","base64"],"executable":false,"lamports":1,"owner":"${TOKEN_PROGRAM}","rentEpoch":18446744073709551615,"space":${data.length}}`

/** Every mint twice, so that accounts outnumber mints. */
const mintsOfAccounts = Array.from({ length: accountCount }, (_, n) => keyOf(5, n >> 1))
const mintNames = new Set(mintsOfAccounts.map(mint => mint.toBase58()))

let node: ScriptedNode
let mostAtOnce = 0

beforeAll(async () => {
  const accounts = mintsOfAccounts.map(
    (mint, n) =>
      `{"pubkey":"${keyOf(6, n).toBase58()}","account":${accountJson(tokenAccountBytes(mint, owner, BigInt(n + 1)))}}`
  )
  const mint = accountJson(mintBytes({ supply: 2n ** 64n - 1n, decimals: 3 }))
  node = await startScriptedNode((call: RpcCall) => {
    if (call.method === 'getBalance') return answerOf(call, '5')
    if (call.method === 'getMultipleAccounts') {
      const keys = call.params[0] as string[]
      return answerOf(call, `[${keys.map(key => (mintNames.has(key) ? mint : 'null')).join()}]`)
    }
    const { programId } = call.params[1] as { programId: string }
    return answerOf(call, programId === TOKEN_PROGRAM ? `[${accounts.join()}]` : '[]')
  })
})

afterAll(() => node.close())

it('reads 5,000 token accounts with one call per 50 mints and a bounded number of calls at once', async () => {
  const rpc = createSolanaRpc({ rpcUrls: [node.url], commitment: 'confirmed' })
  let atOnce = 0
  const counted: typeof rpc = {
    ...rpc,
    async getMultipleAccounts(...query) {
      mostAtOnce = Math.max(mostAtOnce, ++atOnce)
      try {
        return await rpc.getMultipleAccounts(...query)
      } finally {
        atOnce--
      }
    }
  }
  const { readHoldings } = createSolanaHoldings({ rpc: counted, maxConcurrentCalls: 3 })
  const { tokens } = await readHoldings({
    accountAddress: owner.toBase58(),
    deadlineMs: Date.now() + 25_000
  })
  expect(tokens).toHaveLength(accountCount)
  const total = tokens.reduce((sum, { amount }) => sum + amount, 0n)
  expect(total).toBe((BigInt(accountCount) * BigInt(accountCount + 1)) / 2n)
  const order = tokens.map(({ mint, address }) => `${mint} ${address}`)
  expect(order).toEqual([...order].sort())

  const lookups = node.calls.filter(call => call.method === 'getMultipleAccounts')
  expect(lookups).toHaveLength(mintNames.size / 50)
  expect(node.calls).toHaveLength(3 + lookups.length)
  expect(Math.max(...lookups.map(call => (call.params[0] as string[]).length))).toBe(100)
  expect(mostAtOnce).toBe(3)
})
