import {
  type SolanaDriver,
  type SurfpoolNode,
  seedSolanaWorld,
  startSurfpool,
  surfpoolUnsupportedReason
} from '@chain-data/devnet'
import { noMetadataCache } from '@chain-data/index'
import type { SolanaTransaction, SolanaTransactionHistory } from '@chain-data/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createSolanaHistory } from '../../src/features/solanaHistory/history/history.ts'
import { SolanaHistoryRpc } from '../../src/features/solanaHistory/history/historyRpc.ts'
import { createSolanaNodes } from '../../src/nodes/solana/nodes.ts'
import { createSolanaRpc } from '../../src/nodes/solana/rpc.ts'
import { type ScriptedNode, startScriptedNode } from '../solana/startScriptedNode.ts'
import { type HistoryService, startHistoryService } from './startHistoryService.ts'

const unsupported = surfpoolUnsupportedReason()
if (unsupported !== undefined) process.stdout.write(`skipped: ${unsupported}\n`)

const signaturesOf = (history: SolanaTransactionHistory) =>
  history.transactions.map(({ signature }) => signature)

describe.skipIf(unsupported !== undefined)('the history of a Solana wallet', () => {
  let surfpool: SurfpoolNode
  let driver: SolanaDriver
  let node: ScriptedNode
  let service: HistoryService
  let wallet: string

  beforeAll(async () => {
    surfpool = await startSurfpool()
    driver = await seedSolanaWorld(surfpool, { seed: 11 })
    node = await startScriptedNode(() => ({ passOn: surfpool.rpcUrl }))
    service = await startHistoryService({ rpcUrls: [node.url] })
    wallet = driver.world.owners.heidi!.address
  })

  afterAll(async () => {
    await service?.close()
    await Promise.all([node?.close(), surfpool?.stop()])
  })

  beforeEach(() => {
    node.calls.length = 0
    node.react = () => ({ passOn: surfpool.rpcUrl })
  })

  it('has what was meant to happen, newest first, with nothing missing', async () => {
    const history = await service.history(wallet)
    const meant = driver.world.transactions.filter(
      ({ lamports, tokens }) =>
        lamports.heidi !== undefined ||
        tokens.some(({ preOwner, postOwner }) => preOwner === 'heidi' || postOwner === 'heidi')
    )
    expect(signaturesOf(history).toSorted()).toEqual(meant.map(({ signature }) => signature).toSorted())
    const slots = history.transactions.map(({ slot }) => slot)
    expect(slots).toEqual(slots.toSorted((a, b) => b - a))
    expect(history.continuity).toEqual({ gaps: [] })
    expect(history.covers.continuity).toBe(true)
  })

  it('gives the same in pages of every length, each transaction once', async () => {
    const whole = await service.history(wallet)
    for (const limit of [1, 2, 7, 100]) {
      const pages: SolanaTransaction[] = []
      for (;;) {
        const before = pages.at(-1)?.signature
        const page = await service.history(wallet, { limit, ...(before && { before }) })
        expect(page.continuity.gaps, `${limit} before ${before}`).toEqual([])
        pages.push(...page.transactions)
        if (page.transactions.length < limit) break
      }
      expect(pages.map(each => each.signature)).toEqual(signaturesOf(whole))
    }
  })

  it('asks no node for a page that was read before, and for lists only where the newest is asked for', async () => {
    const first = await service.history(wallet, { limit: 3 })
    const before = first.transactions.at(-1)!.signature
    const second = await service.history(wallet, { limit: 3, before })
    node.calls.length = 0
    expect(await service.history(wallet, { limit: 3, before })).toEqual(second)
    const lists = new Set(node.calls.map(({ method }) => method))
    lists.delete('getTransaction')
    // Blocks of surfpool become final as others come, so the newest transactions are asked for again.
    expect([...lists]).toEqual([])
  })

  it('names a gap for every transaction that moved a balance and is left out of all lists', async () => {
    const whole = await service.history(wallet)
    const moved = whole.transactions.filter(
      ({ lamports, tokens }) =>
        (lamports && lamports.pre !== lamports.post) || tokens.some(({ pre, post }) => pre !== post)
    )
    expect(moved.length).toBeGreaterThan(15)
    const leftOut: string[] = []
    node.react = ({ method }) => ({
      passOn: surfpool.rpcUrl,
      change: text => {
        if (method !== 'getSignaturesForAddress') return text
        const answer = JSON.parse(text)
        answer.result = answer.result.filter(
          (each: { signature: string }) => !leftOut.includes(each.signature)
        )
        return JSON.stringify(answer)
      }
    })
    for (const { signature } of moved) {
      leftOut[0] = signature
      const nodes = createSolanaNodes({ rpcUrls: [node.url] })
      const reader = createSolanaHistory({
        ...{ chainId: 103, documents: noMetadataCache },
        rpc: createSolanaRpc({ nodes, commitment: 'confirmed' }),
        historyRpc: new SolanaHistoryRpc(nodes, 'confirmed')
      })
      const limits = { tokenAccounts: 'all', maxUnpaged: null, deadlineMs: Date.now() + 25_000 } as const
      const { gaps } = await reader.readHistory({ wallet, ...limits, signal: new AbortController().signal })
      expect(gaps.length, signature).toBeGreaterThan(0)
    }
  })
})
