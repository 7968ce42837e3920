import { evmAccount, surfpoolUnsupportedReason } from '@chain-data/devnet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConformanceOptions, listChecks, runConformance } from '../src/index.ts'
import { examine } from '../src/runConformance.ts'
import { createTurns } from '../src/wire/createTurns.ts'
import { createWire, type Wire } from '../src/wire/createWire.ts'
import { brokenServices, type Facts } from './brokenServices.ts'
import { rememberingWire } from './support/changedWire.ts'
import { project, type Target } from './support/startTarget.ts'

const hasSolana = surfpoolUnsupportedReason() === undefined

function optionsFor(target: Target): ConformanceOptions {
  return {
    baseUrl: target.baseUrl,
    projectId: project.projectId,
    key: project.serverKey,
    evmChain: 31337,
    ...(hasSolana ? { solanaChain: 103 } : { only: name => servedChecks().includes(name) }),
    addresses: target.addresses,
    accounts: 3
  }
}

/** What broken services need to know, from the world's own truth. */
function findFacts({ devnet, addresses }: Target): Facts {
  const { world } = devnet.evm!
  const alice = evmAccount(world, 'alice').address
  const confirmed = world.transactions.filter(({ state }) => state === 'success')
  const shared = confirmed.find(
    ({ from, to = '', type, data }) =>
      from === alice && to !== alice && addresses.includes(to) && type < 3 && data === '0x'
  )
  const received = confirmed.find(({ roles }) => {
    const own = roles.filter(({ address }) => address === alice)
    return own.length > 0 && own.every(({ role }) => role === 'tokenTo' || role === 'tokenFrom')
  })
  return { alice: alice.toLowerCase(), shared: shared!.hash, received: received!.hash }
}

/** Without a Solana node, nothing on its endpoint can be shown. */
const servedChecks = () =>
  listChecks()
    .filter(({ endpoints }) => hasSolana || !endpoints.includes('/solana'))
    .map(({ name }) => name)

/** The names that patterns mean; those after `!` are taken out again. */
function expand(patterns: readonly string[]): string[] {
  const form = (pattern: string) => new RegExp(`^${pattern.replaceAll('*', '.*')}$`)
  const out = patterns.filter(pattern => pattern.startsWith('!')).map(pattern => form(pattern.slice(1)))
  const wanted = patterns.filter(pattern => !pattern.startsWith('!')).map(form)
  return servedChecks().filter(
    name => wanted.some(each => each.test(name)) && !out.some(each => each.test(name))
  )
}

/** Real services that do one thing wrong, and the real one that does nothing wrong. */
export function describeBrokenServices(target: () => Target): void {
  let wire: Wire
  let remember: ReturnType<typeof rememberingWire>
  let facts: Facts
  const options = () => optionsFor(target())

  beforeAll(() => {
    wire = createWire({ baseUrl: target().baseUrl, concurrency: 8, timeoutMs: 20_000 })
    remember = rememberingWire(wire)
    facts = findFacts(target())
  })

  afterAll(() => wire?.close())

  it('finds nothing wrong with the real service, and nothing is left unseen', async () => {
    const report = await runConformance(options())
    expect(report.results.filter(({ outcome }) => outcome !== 'passed')).toEqual([])
    expect(report.results).toHaveLength(servedChecks().length)
    expect(report).toMatchObject({ evmChain: 31337, ...(hasSolana ? { solanaChain: 103 } : {}) })
  })

  describe('names exactly what a service does wrong', () => {
    const seen = new Set<string>()

    it.each(Object.entries(brokenServices).filter(([group]) => !group.endsWith('Solana') || hasSolana))(
      'with %s',
      async (group, services) => {
        for (const { does, change, fails } of services(facts)) {
          const report = await examine(remember(change), options())
          const failed = report.results.filter(({ outcome }) => outcome === 'failed')
          for (const { name } of failed) seen.add(name)
          const found = failed.map(({ name, reason }) => ({ name, reason }))
          const expected = expand(fails).map(name => ({ name, reason: expect.any(String) }))
          expect(found, `a service that ${does}`).toEqual(expected)
        }
        expect(services(facts).length, group).toBeGreaterThan(5)
      }
    )

    it('so that no check is left that nothing makes fail', () => {
      expect(servedChecks().filter(name => !seen.has(name))).toEqual([])
    })
  })

  // The last one: what others have seen of the chain is no longer true after it.
  it('finds nothing wrong while the chain goes on and is reorganised', async () => {
    const { driver, world } = target().devnet.evm!
    const to = evmAccount(world, 'bob').address
    let [requests, blocks] = [0, 0]
    const goOn = async () => {
      blocks++
      await driver.send({ label: `late ${blocks}`, from: 'alice', to, valueWei: 1n })
      await driver.mine()
      if (blocks % 4 === 0) await driver.reorg(1)
    }
    const inTurn = createTurns(1)
    // By requests and not by time, so that a slow machine sees the same chain as a fast one.
    const send: Wire['send'] = async request => {
      if (++requests % 50 === 0) await inTurn(goOn)
      return wire.send(request)
    }
    const only = (name: string) => !name.startsWith('vectors/')
    const report = await examine({ send }, { ...options(), only })
    expect(report.results.filter(({ outcome }) => outcome === 'failed')).toEqual([])
    expect(blocks).toBeGreaterThan(3)
  })
}
