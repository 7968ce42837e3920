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
import {
  errorOf,
  type Reaction,
  type RpcCall,
  type ScriptedNode,
  startScriptedNode
} from './startScriptedNode.ts'
import { type SolanaService, startSolanaService } from './startSolanaService.ts'

const unsupported = surfpoolUnsupportedReason()
if (unsupported !== undefined) process.stdout.write(`skipped: ${unsupported}\n`)

describe.skipIf(unsupported !== undefined)('a node in front of a real one', () => {
  const owners = ['alice', 'bob', 'carol', 'dora', 'nobody']
  const open: { close(): Promise<void> }[] = []
  let surfpool: SurfpoolNode
  let driver: SolanaDriver
  let genesisHash: string

  beforeAll(async () => {
    surfpool = await startSurfpool()
    driver = await seedSolanaWorld(surfpool, { seed: 5 })
    genesisHash = await driver.connection.getGenesisHash()
  })

  afterAll(async () => {
    await Promise.all(open.map(each => each.close()))
    await surfpool?.stop()
  })

  const truthOf = (name: string) =>
    comparable(expectedSolanaHoldings(driver.world, name, { parseMetadataUri: false, origin: '' }))
  const addressOf = (name: string) => solanaOwner(driver.world, name).address

  /** A node that reacts so, or lets the real one answer, byte for byte. */
  async function node(
    react: (call: RpcCall) => Reaction | undefined = () => undefined
  ): Promise<ScriptedNode> {
    const started = await startScriptedNode(call => react(call) ?? { passOn: surfpool.rpcUrl })
    started.genesisHash = genesisHash
    open.push(started)
    return started
  }

  async function service(...nodes: ScriptedNode[]): Promise<SolanaService> {
    const started = await startSolanaService({ rpcUrls: nodes.map(({ url }) => `${url}/s3cr3t`) })
    open.push(started)
    return started
  }

  /** The answer for an account: what it holds, or the error. */
  async function ask(asked: SolanaService, name: string): Promise<{ holds?: unknown; error?: WireError }> {
    const answer = parseExactJson(await asked.text(addressOf(name))) as { result?: object; error?: WireError }
    return answer.result === undefined ? { error: answer.error! } : { holds: comparable(answer.result) }
  }
  interface WireError {
    readonly code: number
    readonly data: { readonly reason: string; readonly extraMessage: string }
  }

  function expectUnavailable(
    { holds, error }: { holds?: unknown; error?: WireError },
    log: readonly string[]
  ) {
    expect(holds).toBeUndefined()
    expect(error).toMatchObject({ code: -32002, data: { reason: 'UPSTREAM_UNAVAILABLE' } })
    expect(error?.data.extraMessage).toMatch(
      /^The (address of |answer of )?(the )?chain's node (cannot|did not|does not|is|limits|contradicts|refused)|^The answer was not ready/
    )
    expect(JSON.stringify(error) + log.join()).not.toMatch(/s3cr3t|key\.test|127\.0\.0\.1:\d+\/s/)
  }

  it.each(owners)('that does nothing wrong gives what %s holds, every digit', async name => {
    expect(await ask(await service(await node()), name)).toEqual({ holds: truthOf(name) })
  })

  // Most of their time they wait to ask again, each in a service of its own.
  describe.concurrent.each(nodeFaults)('that $name', ({ react, passes }) => {
    const faulty = () => node(call => react(call, surfpool.rpcUrl))

    it('is made up for by another', async () => {
      const [first, second] = [await faulty(), await node()]
      expect(await ask(await service(first, second), 'alice')).toEqual({ holds: truthOf('alice') })
      expect(first.calls.length).toBeGreaterThan(0)
    })

    it('and is the only one makes an error, never an empty list', async () => {
      const asked = await service(await faulty())
      expectUnavailable(await ask(asked, 'alice'), asked.logLines)
    })

    it(passes ? 'once is asked again' : 'once is not asked again', async () => {
      const done = new Set<string>()
      const once = await node(call => {
        const reaction = done.has(call.method) ? undefined : react(call, surfpool.rpcUrl)
        if (reaction !== undefined) done.add(call.method)
        return reaction
      })
      const asked = await service(once)
      const answer = await ask(asked, 'alice')
      if (passes) expect(answer).toEqual({ holds: truthOf('alice') })
      else expectUnavailable(answer, asked.logLines)
      expect(done.size).toBeGreaterThan(0)
    })
  })

  it.each(['hang', 'drip'] as const)(
    'that does not end its answer (%s) leaves time for another',
    async way => {
      const started = await startSolanaService(
        { rpcUrls: [(await node(() => way)).url, (await node()).url] },
        { limits: { requestDeadlineMs: 2_000 } }
      )
      open.push(started)
      expect(await ask(started, 'alice')).toEqual({ holds: truthOf('alice') })
    }
  )

  it.concurrent.each(['hang', 'drip'] as const)(
    'that does not end its answer (%s) and is the only one makes an error',
    async way => {
      const started = await startSolanaService(
        { rpcUrls: [(await node(() => way)).url] },
        { limits: { requestDeadlineMs: 1_000 } }
      )
      open.push(started)
      expectUnavailable(await ask(started, 'alice'), started.logLines)
    }
  )

  it.concurrent.each([
    'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'
  ])('that fails for one token program only (%s) makes an error, not half an answer', async programId => {
    const asked = await service(
      await node(call => {
        const [, filter] = call.params as [unknown, { programId?: string } | undefined]
        return filter?.programId === programId ? errorOf(call, -32603) : undefined
      })
    )
    expectUnavailable(await ask(asked, 'alice'), asked.logLines)
  })

  it.concurrent('that serves another cluster is never mixed in, and the operator is told once', async () => {
    const [ours, theirs] = [await node(call => (failing ? errorOf(call, -32603) : undefined)), await node()]
    let failing = false
    theirs.genesisHash = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxkPkZBG'
    const asked = await service(ours, theirs)
    expect(await ask(asked, 'alice')).toEqual({ holds: truthOf('alice') })
    failing = true
    for (const name of ['alice', 'bob']) expectUnavailable(await ask(asked, name), asked.logLines)
    expect(theirs.calls).toEqual([])
    const told = asked.logLines.filter(line => line.includes('serves another cluster than upstream 1'))
    expect(told.filter(line => line.includes('a Solana node is not used'))).toHaveLength(1)
  })
})
