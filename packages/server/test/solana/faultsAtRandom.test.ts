import { createHash } from 'node:crypto'
import {
  expectedSolanaHoldings,
  type SolanaDriver,
  type SurfpoolNode,
  seedSolanaWorld,
  solanaOwner,
  startSurfpool,
  surfpoolUnsupportedReason
} from '@chain-data/devnet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseExactJson } from '../../src/platform/parseExactJson.ts'
import { comparable } from './comparable.ts'
import { nodeFaults } from './nodeFaults.ts'
import { type RpcCall, type ScriptedNode, startScriptedNode } from './startScriptedNode.ts'
import { type SolanaService, startSolanaService } from './startSolanaService.ts'

const unsupported = surfpoolUnsupportedReason()
if (unsupported !== undefined) process.stdout.write(`skipped: ${unsupported}\n`)

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)
if (unsupported === undefined) process.stdout.write(`faultsAtRandom: CHAIN_DATA_TEST_SEED=${seed}\n`)

const rounds = 40
/** In so many of 100 answers a node goes wrong. */
const shares = [35, 20, 20]
// One that asks for an hour gets it, and would leave nothing to play with.
const faults = nodeFaults.filter(({ name }) => !name.startsWith('asks'))

describe.skipIf(unsupported !== undefined)('three nodes that go wrong at random', () => {
  let surfpool: SurfpoolNode
  let driver: SolanaDriver
  let nodes: ScriptedNode[]
  let service: SolanaService
  const injected = new Set<string>()

  /** Depends on what is asked and how often it was, not on the order in which different calls arrive. */
  function createDraw(name: string): (call: RpcCall) => number {
    const asked = new Map<string, number>()
    return ({ method, params }) => {
      // Slots are the node's own and differ from run to run.
      const what = JSON.stringify([seed, name, method, params], (key, value: unknown) =>
        key === 'minContextSlot' ? undefined : value
      )
      const times = (asked.get(what) ?? 0) + 1
      asked.set(what, times)
      return createHash('sha256').update(`${what} ${times}`).digest().readUInt32LE(0)
    }
  }

  beforeAll(async () => {
    surfpool = await startSurfpool()
    driver = await seedSolanaWorld(surfpool, { seed: 5 })
    nodes = await Promise.all(
      shares.map((share, at) => {
        const draw = createDraw(`node ${at}`)
        return startScriptedNode(call => {
          const drawn = draw(call)
          const fault = drawn % 100 < share ? faults[Math.floor(drawn / 100) % faults.length] : undefined
          const reaction = fault?.react(call, surfpool.rpcUrl)
          if (fault !== undefined && reaction !== undefined) injected.add(fault.name)
          return reaction ?? { passOn: surfpool.rpcUrl }
        })
      })
    )
    service = await startSolanaService({ rpcUrls: nodes.map(({ url }) => url) })
  })

  afterAll(async () => {
    await service?.close()
    await Promise.all([surfpool?.stop(), ...(nodes ?? []).map(node => node.close())])
  })

  it('give the truth in every answer, and an error where they cannot', async () => {
    const names = ['alice', 'bob', 'carol', 'dora', 'nobody']
    let answered = 0
    for (let round = 0; round < rounds; round++) {
      const name = names[round % names.length]!
      const answer = parseExactJson(await service.text(solanaOwner(driver.world, name).address))
      const { result, error } = answer as { result?: object; error?: { code: number } }
      if (result === undefined) {
        expect(error).toMatchObject({ code: -32002, data: { reason: 'UPSTREAM_UNAVAILABLE' } })
        continue
      }
      answered++
      const truth = expectedSolanaHoldings(driver.world, name, { parseMetadataUri: false, origin: '' })
      expect(comparable(result), `round ${round}, ${name}`).toEqual(comparable(truth))
    }
    // Otherwise nothing was shown: answers came, and of most faults each was met.
    expect(answered).toBeGreaterThan(rounds / 2)
    expect(injected.size).toBeGreaterThan(faults.length / 3)
  })
})
