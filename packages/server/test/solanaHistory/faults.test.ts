import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RpcCall, type ScriptedNode, startScriptedNode } from '../solana/startScriptedNode.ts'
import { type SolanaService, startSolanaService } from '../solana/startSolanaService.ts'
import { askHistory } from './askHistory.ts'
import { expectTruth } from './expectTruth.ts'
import { historyFaults } from './historyFaults.ts'
import { readBlocks, type TrueTransaction } from './readTruth.ts'
import { createTransport, createValidator } from './scripted/createValidator.ts'
import { playHistories } from './scripted/playHistories.ts'

const { ledger, wallets } = playHistories(7, { wallets: 6, transactions: 60 })
const react = createValidator(ledger)
const open: { close(): Promise<void> }[] = []
let sound: ScriptedNode
let wallet: string
let truth: readonly TrueTransaction[]

beforeAll(async () => {
  sound = await startScriptedNode(react)
  const blocks = await readBlocks(createTransport(react))
  wallet = wallets.reduce((a, b) => (blocks.historyOf(b).length > blocks.historyOf(a).length ? b : a))
  truth = blocks.historyOf(wallet)
  expect(truth.some(({ version }) => version === 0)).toBe(true)
})

afterAll(async () => {
  for (const each of open.splice(0)) await each.close()
  await sound?.close()
})

async function serve(...nodes: ScriptedNode[]): Promise<SolanaService> {
  const service = await startSolanaService(
    { rpcUrls: nodes.map(({ url }) => url) },
    { limits: { requestDeadlineMs: 6_000 } }
  )
  open.push(service)
  return service
}

// Most of each is waiting between tries.
describe.concurrent.each(historyFaults)('a node that $name', ({ react: fail }) => {
  async function faulty(onFault = () => {}): Promise<ScriptedNode> {
    const node = await startScriptedNode((call: RpcCall) => {
      const reaction = fail(call, sound.url)
      if (reaction !== undefined) onFault()
      return reaction ?? react(call)
    })
    open.push(node)
    return node
  }

  it('is made up for by another', async () => {
    const service = await serve(await faulty(), sound)
    expectTruth(await askHistory(service, wallet), truth, 'made up for')
  })

  it('and is the only one makes an error, never a shorter list', async () => {
    let met = 0
    const service = await serve(await faulty(() => met++))
    await expect(askHistory(service, wallet)).rejects.toThrow(/"reason":"UPSTREAM_UNAVAILABLE"/)
    expect(met).toBeGreaterThan(0)
  })
})
