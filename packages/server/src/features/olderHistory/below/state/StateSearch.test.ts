import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../../../../devnet/src/platform/createRandom.ts'
import type { NodeCall } from '../../../../nodes/evm/nodeCall.ts'
import type { EvmRpc } from '../../../../nodes/evm/rpc.ts'
import { createBatchSize } from '../../../../nodes/upstreams/limits.ts'
import { systemClock } from '../../../../platform/clock.ts'
import { NodeContradictionError } from '../../../../platform/errors.ts'
import { account, type Deed, scriptAccount, scriptRpc } from '../test/scriptAccount.ts'
import { createOldState, type NonceMethod } from './createOldState.ts'
import { StateSearch } from './StateSearch.ts'

const height = 23_000_000
const seed = Number(process.env.STATE_SEED ?? 20)

/** So many deeds at random heights, each kind in its turn. */
function deedsOf(kinds: readonly Deed['kind'][], count: number, name: string, blocks = height): Deed[] {
  const random = createRandom(seed + name.length)
  return Array.from({ length: count }, (_, position) => ({
    height: 1 + random.below(blocks - 2),
    kind: kinds[position % kinds.length] as Deed['kind'],
    value: BigInt(1 + random.below(1_000))
  }))
}

interface Run {
  readonly hasKey?: boolean
  readonly takesKeyless?: boolean
  readonly wanted?: number
  readonly nonceMethod?: NonceMethod
  readonly answer?: (call: NodeCall) => unknown
  readonly blocks?: number
}

async function search(script: ReturnType<typeof scriptAccount>, run: Run = {}) {
  const { wanted = Number.POSITIVE_INFINITY, nonceMethod, answer = script.answer, blocks = height } = run
  const { hasKey = false, takesKeyless = false } = run
  const rpc = scriptRpc(answer)
  const state = createOldState(rpc as unknown as EvmRpc, account, {
    size: createBatchSize(100, systemClock),
    maxCalls: () => Number.POSITIVE_INFINITY,
    nonceMethod
  })
  const found: number[] = []
  const { block } = script
  const searched = new StateSearch(
    { state, block, hasKey, takesKeyless },
    { address: account, below: blocks }
  )
  let turns = 0
  while (searched.from > 0 && searched.end === undefined && searched.problem === undefined) {
    if (found.length >= wanted) break
    await searched.advance(new AbortController().signal, wanted - found.length)
    turns++
    found.push(...searched.take(searched.from).map(({ number }) => number))
  }
  const { from, end, problem, gaps } = searched
  return { found, turns, calls: rpc.calls, from, gaps, ...(end && { end }), ...(problem && { problem }) }
}

const accounts: Readonly<Record<string, readonly Deed[]>> = {
  busy: deedsOf(['sends'], 1_600, 'busy'),
  quiet: deedsOf(['sends', 'receives'], 120, 'quiet'),
  mixed: deedsOf(['sends', 'receives', 'fails', 'internal'], 300, 'mixed'),
  validator: deedsOf(['sends', 'withdraws', 'withdraws'], 120, 'validator'),
  paid: deedsOf([...Array(40).fill('receives'), 'sends'], 400, 'paid'),
  authorizing: deedsOf(['sends', 'receives', 'authorizes'], 90, 'authorizing'),
  crowded: deedsOf(['sends', 'receives', 'internal', 'fails'], 300, 'crowded', 400)
}

describe(`a search from state at ${height} blocks (STATE_SEED=${seed})`, () => {
  it.each(Object.entries(accounts))('finds all of an account that is %s', async (name, deeds) => {
    const blocks = name === 'crowded' ? 400 : height
    for (const isTraced of [false, true]) {
      const script = scriptAccount(deeds, { isTraced })
      for (const nonceMethod of [undefined, 'eth_getTransactionBySenderAndNonce'] as const) {
        const options = { blocks, ...(nonceMethod && { nonceMethod }) }
        const whole = await search(script, options)
        expect(whole.found).toEqual(script.expected())
        expect(whole.from).toBe(0)
        const page = await search(script, { ...options, wanted: 25 })
        expect(page.found).toEqual(script.expected().slice(0, page.found.length))
        expect(page.found.length).toBeGreaterThanOrEqual(25)
      }
    }
  })

  it('finds what there is on chains of some blocks, whatever happens on them', async () => {
    const random = createRandom(seed)
    for (let run = 0; run < 500; run++) {
      const blocks = 2 + random.below(30)
      const kinds = ['sends', 'receives', 'fails', 'internal', 'authorizes', 'withdraws'] as const
      const deeds = Array.from({ length: random.below(20) }, () => ({
        height: 1 + random.below(blocks - 1),
        kind: random.pick(kinds),
        value: BigInt(1 + random.below(9))
      }))
      const script = scriptAccount(deeds, { isTraced: run % 2 === 0 })
      const wanted = run % 3 === 0 ? 5 : Number.POSITIVE_INFINITY
      const nonceMethod =
        run % 5 === 0 ? ({ nonceMethod: 'eth_getTransactionBySenderAndNonce' } as const) : {}
      const { found, from } = await search(script, { blocks, wanted, ...nonceMethod })
      const expected = script.expected().filter(height => height >= from)
      expect(found, `run ${run}`).toEqual(expected)
    }
  })

  it('keeps to its bounds of calls and exchanges', async () => {
    const [busy, quiet] = ['busy', 'quiet'].map(name => scriptAccount(accounts[name] ?? []))
    if (busy === undefined || quiet === undefined) throw new Error('both are there')
    for (const name of ['busy', 'quiet', 'paid']) {
      const page = await search(scriptAccount(accounts[name] ?? []), { wanted: 25 })
      expect(page.calls, name).toBeLessThanOrEqual(1_100)
      expect(page.turns, name).toBeLessThanOrEqual(20)
    }
    const named = await search(busy, { wanted: 25, nonceMethod: 'eth_getTransactionBySenderAndNonce' })
    expect(named.calls).toBeLessThanOrEqual(150)
    expect((await search(busy)).calls / 1_600).toBeLessThanOrEqual(15)
    expect((await search(quiet)).calls / 120).toBeLessThanOrEqual(20)
  })

  it.each([
    ['contract', [{ height: 9, kind: 'creates' }], () => '0x6001'],
    ['contract', [{ height: 900, kind: 'creates' }], () => '0x'],
    ['no-key', [{ height: 900, kind: 'receives' }], () => '0x'],
    ['delegated', [{ height: 900, kind: 'sends' }], () => `0xef0100${'c0'.repeat(20)}`]
  ] as [string, Deed[], () => string][])('proves nothing of an account (%s)', async (reason, deeds, code) => {
    const { found, end, calls } = await search(scriptAccount(deeds, { code }))
    expect({ found, end }).toEqual({ found: [], end: { from: height, reason } })
    expect(calls).toBeLessThan(150)
  })

  it('ends where the account ran the code of a contract', async () => {
    const deeds: Deed[] = [5, 700, 800_000].map(at => ({ height: at, kind: 'sends' }))
    deeds.push({ height: 600_000, kind: 'authorizes' }, { height: 400_000, kind: 'authorizes' })
    const code = (at: number) => (at >= 400_000 && at < 600_000 ? `0xef0100${'c0'.repeat(20)}` : '0x')
    const { found, end } = await search(scriptAccount(deeds, { code }))
    expect({ found, end }).toEqual({ found: [800_000, 600_000], end: { from: 600_000, reason: 'delegated' } })
  })

  it('ends where fees follow other rules', async () => {
    const deeds: Deed[] = [7, 90_000, 3_000_000].map(at => ({ height: at, kind: 'sends' }))
    deeds.push({ height: 90_000, kind: 'loses' })
    const { found, end } = await search(scriptAccount(deeds))
    expect({ found, end }).toEqual({
      found: [3_000_000, 90_000],
      end: { from: 90_000, reason: 'other-fees' }
    })
  })

  it('finds what an account without a key has received, and marks it', async () => {
    const script = scriptAccount(deedsOf(['receives'], 40, 'keyless'))
    const { found, from, end, gaps } = await search(script, { takesKeyless: true })
    expect({ found, from, end, gaps }).toEqual({
      ...{ found: script.expected(), from: 0, end: undefined, gaps: ['payments-passed-on'] }
    })
    const untouched = await search(scriptAccount([]), { takesKeyless: true })
    expect(untouched).toMatchObject({ found: [], from: 0, gaps: ['payments-passed-on'] })
    const keyed = await search(scriptAccount([{ height: 9, kind: 'sends' }]), { takesKeyless: true })
    expect(keyed).toMatchObject({ found: [9], gaps: [] })
  })

  it('ends where an account without a key has spent something, or is paid by blocks', async () => {
    const spent: Deed[] = [9_000, 700_000].map(at => ({ height: at, kind: 'receives' }))
    spent.push({ height: 80_000, kind: 'loses', value: 3n })
    expect(await search(scriptAccount(spent), { takesKeyless: true })).toMatchObject({
      ...{ found: [700_000], end: { from: 80_000, reason: 'contract' } }
    })
    const paid: Deed[] = Array.from({ length: 400 }, (_, at) => ({ height: 100 + at, kind: 'withdraws' }))
    paid.push({ height: 900, kind: 'receives' }, { height: 50, kind: 'receives' })
    const { problem, ...found } = await search(scriptAccount(paid), { takesKeyless: true, blocks: 20_000 })
    expect(problem).toBeUndefined()
    expect(found).toMatchObject({ found: [900], end: { from: 900, reason: 'no-key' } })
  })

  it('gives up on an account that blocks pay at the same block, wherever a search begins', async () => {
    const random = createRandom(seed)
    for (let run = 0; run < 15; run++) {
      const deeds: Deed[] = []
      const blocks = 200_000
      for (let at = 10; at < blocks - 10; at += 1 + random.below(2_500))
        deeds.push({ height: at, kind: random.below(12) === 0 ? 'sends' : 'withdraws' })
      deeds.push({ height: blocks - 5, kind: 'sends' })
      const script = scriptAccount(deeds)
      const whole = await search(script, { blocks, hasKey: true })
      const [first = blocks] = script.expected()
      for (let below = first; below > whole.from; ) {
        // As the next call does, from where the last one has got to.
        const wanted = 1 + random.below(9)
        const { found, from, problem } = await search(script, { blocks: below, wanted, hasKey: true })
        if (problem !== undefined) expect([from, problem]).toEqual([whole.from, whole.problem])
        expect(from).toBeGreaterThanOrEqual(whole.from)
        expect(found).toEqual(whole.found.filter(height => height < below && height >= from))
        below = problem === undefined ? from : 0
      }
    }
  })

  it('gives up on an account that blocks pay', async () => {
    const deeds: Deed[] = Array.from({ length: 10_000 }, (_, at) => ({ height: 100 + at, kind: 'withdraws' }))
    deeds.push({ height: 50, kind: 'sends' })
    const { found, problem, calls } = await search(scriptAccount(deeds), { wanted: 25, blocks: 20_000 })
    expect(found).toEqual([])
    expect(problem).toMatch(/without a transaction, as that of a fee recipient or of a withdrawal address/)
    expect(calls).toBeLessThanOrEqual(1_000)
  })

  it('keeps nothing of answers that are of another height now and then', async () => {
    const random = createRandom(seed)
    let [refused, wrong] = [0, 0]
    for (let run = 0; run < 400; run++) {
      const isTraced = run % 2 === 0
      const script = scriptAccount(deedsOf(['sends', 'receives', 'sends', 'internal'], 40, 'stale', 20_000), {
        isTraced
      })
      const answer = script.stale(0.001, () => random.below(2 ** 30) / 2 ** 30, 20_000)
      try {
        const { found } = await search(script, { answer, blocks: 20_000 })
        if (JSON.stringify(found) !== JSON.stringify(script.expected())) wrong++
      } catch (error) {
        if (!(error instanceof NodeContradictionError)) throw error
        refused++
      }
    }
    expect(wrong, `refused ${refused}`).toBeLessThanOrEqual(1)
    expect(refused).toBeLessThan(40)
  })
})
