import { setTimeout as sleep } from 'node:timers/promises'
import { createEmptyWorld, createEvmDriver, evmAccount, startAnvil } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import { afterAll, describe, expect, it } from 'vitest'
import { watchAddresses } from '../../../client/src/actions.ts'
import type { ChainOptional } from '../../../client/src/Chain.ts'
import type { Client } from '../../../client/src/Client.ts'
import { createClient } from '../../../client/src/fetch.ts'
import { createLiveHistory, createStreaming } from '../../../client/src/history/index.ts'
import { startPassage } from '../../../client/test/support/startPassage.ts'
import { healthOf, leaderOf } from '../processes/leaderOf.ts'
import { credentials, startFleet } from '../processes/startFleet.ts'
import { engines } from '../support/testStores.ts'
import { AccountFold, type Change, type HistoryRecord } from './foldChanges.ts'
import { authorization, liveALife } from './startLiveService.ts'

const chainId = 31337
const cleanUps: (() => unknown)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

describe.each(engines)('over $name', { concurrent: true }, engine => {
  it('the events of the client are the history through reorgs, broken connections, and a server that another one replaces', async () => {
    const anvil = await startAnvil()
    cleanUps.push(() => anvil.stop())
    const driver = createEvmDriver(anvil.rpcUrl, await createEmptyWorld(anvil.rpcUrl))
    const addressOf = (name: string) => evmAccount(driver.world, name).address
    const store = await engine.create()
    cleanUps.push(() => store.remove())
    const chain = { chainId, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 50 }
    const fleet = await startFleet(store.url, chain, { listen: { port: 0, drainMs: 200 } })
    cleanUps.push(() => fleet.end())
    await Promise.all([fleet.add(true), fleet.add(true)])
    await eventually('both answer', async () =>
      (await Promise.all(fleet.members().map(healthOf))).every(health => health?.ready === true)
    )
    const first = await eventually('one of them indexes', () => leaderOf(fleet))
    const second = fleet.members().find(member => member !== first) ?? first

    const passage = await startPassage(first.url)
    cleanUps.push(() => passage.stop())
    const client = createClient({ baseUrl: passage.url, chainId, allowInsecureHttp: true, ...credentials })
    const addresses = [addressOf('alice'), addressOf('bob')] as const
    const list = createLiveHistory(client, { chainId, address: addresses[0], feed: createStreaming() })
    cleanUps.push(() => list.close())
    list.subscribe(() => {})
    await eventually('the list is streamed', () => list.getSnapshot().isStreamed)
    const watching = await watch(client, addresses)
    cleanUps.push(() => watching.stop())
    /** Both the fold and the list, once the newest block is indexed. */
    const areTheHistory = (head: number) =>
      eventually('fold and list are the history', async () => {
        if (watching.failure() !== undefined) throw watching.failure()
        const { indexedTo } = await client.getSyncStatus({})
        const texts = await Promise.all(
          addresses.map(async address => JSON.stringify(await client.getTransactionsByAddress({ address })))
        )
        const isSame = texts.every((text, index) => text === watching.textOf(addresses[index] ?? ''))
        return indexedTo === head && isSame && JSON.stringify(list.getSnapshot().records) === texts[0]
      })

    const headers = { authorization }
    const life = liveALife({ url: first.url, headers, chainId, driver, addressOf }, 'alice', 'bob')
    for (let broken = 0; broken < 3; broken++) {
      await sleep(200)
      passage.breakAll()
    }
    await life
    await areTheHistory(driver.world.blocks.length - 1)
    expect(watching.kinds).toEqual(new Set(['added', 'confirmed', 'removed', 'synced']))

    expect(watching.ends).toContain('NETWORK')
    const ended = watching.ends.length
    passage.leadTo(second.url)
    expect(await fleet.stop(first)).toBe(0)
    await driver.send({ label: 'later', from: 'alice', to: addresses[1], valueWei: 4n })
    const { number } = await driver.mine()
    await areTheHistory(number)
    // The server has ended them itself.
    expect(watching.ends[ended]).toBeUndefined()
    expect(watching.ends.length).toBeGreaterThan(ended)
    await eventually('the list is streamed again', () => list.getSnapshot().isStreamed)
  })
})

/** Folds the events of some accounts from one cursor on, over any number of connections. */
async function watch(client: Client<ChainOptional>, addresses: readonly string[]) {
  const { after, folds } = await eventually('histories of one cursor', async () => {
    const cursors = new Set<string | null>()
    const bases = new Map<string, AccountFold>()
    for (const address of addresses) {
      const onAnswer = ({ header }: { header: (name: string) => string | null | undefined }) =>
        cursors.add(header('x-chain-data-cursor') ?? null)
      const records = await client.getTransactionsByAddress({ address, onAnswer })
      bases.set(address, new AccountFold(records as readonly HistoryRecord[]))
    }
    const [cursor] = cursors
    return cursors.size === 1 && cursor != null && { after: cursor, folds: bases }
  })
  const stopping = new AbortController()
  const kinds = new Set<string>()
  /** Why each connection ended; nothing where the server ended it. */
  const ends: (string | undefined)[] = []
  let failure: unknown
  const run = async () => {
    const onReconnect = (error: { code: string } | undefined) => void ends.push(error?.code)
    const call = { addresses: [...addresses], after, signal: stopping.signal, onReconnect }
    for await (const event of watchAddresses(client, call)) {
      kinds.add(event.kind)
      if (event.kind === 'synced') continue
      for (const address of event.addresses) folds.get(address)?.apply(event as unknown as Change)
    }
  }
  const watching = run().catch(error => {
    if (!stopping.signal.aborted) failure = error
  })
  return {
    ...{ kinds, ends },
    failure: () => failure,
    textOf: (address: string) => folds.get(address)?.text(),
    async stop() {
      stopping.abort()
      await watching
    }
  }
}
