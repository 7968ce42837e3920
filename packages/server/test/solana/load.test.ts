import { afterAll, beforeAll, expect, it } from 'vitest'
import { exchange, wordCall } from '../../src/nodes/solana/jsonRpc.ts'
import { readAddressedAccounts } from '../../src/nodes/solana/readAnswers.ts'
import { TOKEN_PROGRAM } from '../../src/nodes/solana/solanaAddress.ts'
import { createHttpUpstream } from '../../src/nodes/upstreams/httpUpstream.ts'
import { parseExactJson } from '../../src/platform/parseExactJson.ts'
import { createLargeAccount } from './largeAccount.ts'
import { type ScriptedNode, startScriptedNode } from './startScriptedNode.ts'
import { type SolanaService, startSolanaService } from './startSolanaService.ts'

const tokenAccounts = 5_000
const large = createLargeAccount({ tokenAccounts, nftEvery: 25 })
let node: ScriptedNode
let service: SolanaService

beforeAll(async () => {
  node = await startScriptedNode(large.react)
  service = await startSolanaService({ rpcUrls: [node.url] })
})

afterAll(async () => {
  await service?.close()
  await node?.close()
})

it('an account with 5,000 token accounts is answered whole, within the default deadline, with every digit', async () => {
  const text = await service.text(large.address)
  const { result } = parseExactJson(text) as {
    result: {
      lamports: bigint
      tokens: { mint: string; amount: bigint | number; amountString: string }[]
      nfts: { mint: string; metadata: { data: { name: string } } }[]
      incomplete?: unknown
    }
  }
  expect(result.incomplete).toBeUndefined()
  expect(result.lamports).toBe(2n ** 64n - 1n)
  expect(result.nfts.map(({ mint }) => mint)).toEqual([...large.nfts].sort())
  expect(result.tokens.length + result.nfts.length).toBe(tokenAccounts)
  for (const { mint, amount, amountString } of result.tokens) {
    expect([BigInt(amount), amountString]).toEqual([large.amounts.get(mint), String(large.amounts.get(mint))])
  }
})

it('reading it costs 3 calls and one per 50 mints, none with more than 100 keys', async () => {
  node.calls.length = 0
  await service.holdings(large.address)
  const lookups = node.calls.filter(({ method }) => method === 'getMultipleAccounts')
  expect(lookups).toHaveLength(tokenAccounts / 50)
  expect(node.calls).toHaveLength(3 + lookups.length)
  expect(Math.max(...lookups.map(({ params }) => (params[0] as string[]).length))).toBe(100)
})

it('other work gets a turn after every few accounts of a large answer', async () => {
  const upstream = createHttpUpstream({ url: node.url, position: 1, maxResponseBytes: 2 ** 26 })
  const call = wordCall('getTokenAccountsByOwner', [large.address, { programId: TOKEN_PROGRAM }])
  const answer = await exchange(upstream, call, AbortSignal.timeout(20_000))
  let turns = 0
  let isDone = false
  const reading = readAddressedAccounts(answer).finally(() => {
    isDone = true
  })
  while (!isDone) {
    await new Promise(resolve => setImmediate(resolve))
    turns++
  }
  expect((await reading).value).toHaveLength(tokenAccounts)
  expect(turns).toBeGreaterThanOrEqual(tokenAccounts / 50)
})

it('an answer to somebody else comes while it is read', async () => {
  const done: string[] = []
  const whole = service.text(large.address).then(() => done.push('large'))
  const small = service.text(TOKEN_PROGRAM).then(() => done.push('small'))
  await Promise.all([whole, small])
  expect(done).toEqual(['small', 'large'])
})
