import { expect, it } from 'vitest'
import { createRandom } from '../../../../../devnet/src/platform/createRandom.ts'
import type { NodeCall } from '../../../nodes/evm/nodeCall.ts'
import type { EvmRpc } from '../../../nodes/evm/rpc.ts'
import { createBatchSize } from '../../../nodes/upstreams/limits.ts'
import { systemClock } from '../../../platform/clock.ts'
import { createOldState } from './state/createOldState.ts'
import { account, type Deed, scriptAccount, scriptRpc } from './test/scriptAccount.ts'
import { UnlistedSearch } from './UnlistedSearch.ts'

const blocks = 23_000_000
const seed = Number(process.env.STATE_SEED ?? 20)
const { signal } = new AbortController()

function deedsOf(kinds: readonly Deed['kind'][], count: number): readonly Deed[] {
  const random = createRandom(seed)
  return Array.from({ length: count }, (_, position) => ({
    height: 1 + random.below(blocks - 2),
    kind: kinds[position % kinds.length] as Deed['kind']
  }))
}

const heightsOf = (deeds: readonly Deed[], kind: Deed['kind']) =>
  deeds
    .filter(deed => deed.kind === kind)
    .map(({ height }) => height)
    .sort((a, b) => b - a)

function open(answer: (call: NodeCall) => unknown) {
  const rpc = scriptRpc(answer)
  const state = createOldState(rpc as unknown as EvmRpc, account, {
    size: createBatchSize(100, systemClock),
    maxCalls: () => Number.POSITIVE_INFINITY
  })
  return { rpc, search: new UnlistedSearch(state) }
}

it(`finds each authorization among transactions, stretch by stretch (STATE_SEED=${seed})`, async () => {
  const deeds = deedsOf(['sends', 'receives', 'authorizes', 'fails'], 80)
  const { search, rpc } = open(scriptAccount(deeds).answer)
  const sent = [...heightsOf(deeds, 'sends'), ...heightsOf(deeds, 'fails')]
  const found: number[] = []
  for (let below = blocks; below > 0; below -= 1_000_000)
    found.push(...(await search.find({ from: below - 1_000_000, below }, sent, signal)))
  expect(found).toEqual(heightsOf(deeds, 'authorizes'))
  expect(rpc.calls).toBeLessThan(20 * 100)
})

it('asks once for each end of a stretch where transactions used every nonce', async () => {
  const deeds = deedsOf(['sends', 'receives'], 80)
  const { search, rpc } = open(scriptAccount(deeds).answer)
  const sent = heightsOf(deeds, 'sends')
  expect(await search.find({ from: 9_000_000, below: blocks }, sent, signal)).toEqual([])
  expect(await search.find({ from: 0, below: 9_000_000 }, sent, signal)).toEqual([])
  expect(rpc.calls).toBe(3)
})

it('names the block of a transaction that was left out', async () => {
  const deeds = deedsOf(['sends'], 40)
  const [first = 0, ...others] = heightsOf(deeds, 'sends')
  const { search } = open(scriptAccount(deeds).answer)
  expect(await search.find({ from: 0, below: blocks }, others, signal)).toEqual([first])
})

it('follows nothing of a contract, whose nonces count what it creates', async () => {
  const { answer } = scriptAccount(deedsOf(['creates'], 40), { code: () => '0x6001' })
  const { search, rpc } = open(answer)
  expect(await search.find({ from: 0, below: blocks }, [], signal)).toEqual([])
  expect(rpc.calls).toBe(3)
})

it('is not led astray by answers of other heights', async () => {
  const deeds = deedsOf(['sends', 'authorizes'], 40)
  const script = scriptAccount(deeds)
  const random = createRandom(seed)
  let [wrong, runs] = [0, 0]
  while (++runs < 200) {
    const { search } = open(script.stale(0.001, () => random.below(2 ** 30) / 2 ** 30, blocks))
    const found = await search.find({ from: 0, below: blocks }, heightsOf(deeds, 'sends'), signal)
    if (JSON.stringify(found) !== JSON.stringify(heightsOf(deeds, 'authorizes'))) wrong++
  }
  // One that hides a growth at both ends of a part goes unnoticed here; a certificate finds it.
  expect(wrong).toBeLessThanOrEqual(2)
})
