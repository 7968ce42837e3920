import { afterAll, beforeAll, expect, it } from 'vitest'
import { createRandom, type Random } from '../../../devnet/src/platform/createRandom.ts'
import { evmWallets } from './evmWallets.ts'
import { act, puppetCode, type Step } from './puppets.ts'
import { reconcile } from './reconcile.ts'
import { chainId, startTracedChain, type TracedChain } from './tracedChain.ts'

const seed = Number(process.env.TRACES_SEED ?? 1)
const rounds = Number(process.env.TRACES_ROUNDS ?? 40)
const deepest = 4

let chain: TracedChain
/** Puppets, and an account with the code of one. */
let actors: [string, ...string[]]
/** Accounts without code, and a precompile. */
const others = ['0x00000000000000000000000000000000000e0a01', `0x${'4'.padStart(40, '0')}`] as const

beforeAll(async () => {
  chain = await startTracedChain()
  const create = async () => (await chain.send({ data: puppetCode(), value: '0x2710' })).contractAddress ?? ''
  actors = [await create(), await create(), await create()]
  actors.push(await delegate(actors[0]))
})
afterAll(() => chain.close())

/** An account runs the code of a puppet from now on. */
async function delegate(to: string): Promise<string> {
  const [sender, account] = evmWallets
  if (sender === undefined || account === undefined) throw new Error('two wallets are needed')
  const authorization = account.authorizeSync({ address: to, chainId, nonce: 0 })
  const fees = { gasLimit: 100_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n }
  const raw = await sender.signTransaction({
    ...{ type: 4, chainId, nonce: 0, to: others[0], ...fees, authorizationList: [authorization] }
  })
  await chain.call('eth_sendRawTransaction', raw)
  return account.address
}

/** @param isBirth - in a contract's own creation, where it may end for its own good; anvil traces that wrongly elsewhere. */
function randomSteps(random: Random, depth: number, isBirth: boolean): Step[] {
  return Array.from({ length: 1 + random.below(3) }, () => randomStep(random, depth, isBirth))
}

function randomStep(random: Random, depth: number, isBirth: boolean): Step {
  const kind = random.below(depth >= deepest ? 4 : 16)
  // Sometimes more than anybody has.
  const value = random.below(12) === 0 ? 10n ** 30n : BigInt(random.below(4))
  const inside = (asBirth: boolean) => randomSteps(random, depth + 1, asBirth)
  if (kind < 3) return { do: 'call', at: random.pick([...others, ...actors]), value }
  if (kind === 3) {
    const end = random.below(6)
    if (end === 0) return { do: 'revert' }
    if (end === 1 && isBirth) return { do: 'vanish' }
    return end < 4 ? { do: 'selfDestruct', at: random.pick(others) } : { do: 'call', at: others[0], value }
  }
  if (kind < 9) return { do: 'call', at: random.pick(actors), value, data: act(...inside(false)) }
  if (kind === 9) return { do: 'delegateCall', at: random.pick(actors), data: act(...inside(isBirth)) }
  if (kind === 10) return { do: 'callCode', at: random.pick(actors), value, data: act(...inside(isBirth)) }
  if (kind === 11) return { do: 'staticCall', at: random.pick(actors), data: act(...inside(false)) }
  const data = random.below(4) === 0 ? '0x00' : puppetCode(...inside(true))
  if (kind < 15) return { do: 'create', value, data }
  return { do: 'create2', salt: random.below(3), value, data }
}

it(`explains every wei and every nonce of ${rounds} random blocks, by both methods`, async () => {
  process.stdout.write(`TRACES_SEED=${seed}\n`)
  const random = createRandom(seed)
  const seen = { transfers: 0, creations: 0, burnt: 0 }
  for (let round = 0; round < rounds; round++) {
    const steps = randomSteps(random, 0, false)
    const transaction =
      random.below(4) === 0
        ? { data: puppetCode(...randomSteps(random, 1, true)), value: '0x9' }
        : { to: random.pick(actors), data: act(...steps), value: `0x${random.below(5)}` }
    const number = Number((await chain.send(transaction)).blockNumber)
    const block = await chain.block(number)
    expect(await reconcile(chain, block), `block ${number}, ${JSON.stringify(transaction)}`).toEqual([])
    expect(await chain.tracesBy('debug_traceBlockByHash', number)).toEqual(
      await chain.tracesBy('trace_block', number)
    )
    seen.transfers += block.transactions[0]?.details.internal?.length ?? 0
    const events = [...block.events.values()].flat()
    seen.creations += events.filter(({ kind }) => kind === 'creation').length
    seen.burnt += events.filter(({ kind }) => kind === 'burn').length
  }
  expect(seen.transfers).toBeGreaterThan(rounds / 2)
  expect(seen.creations).toBeGreaterThan(rounds / 8)
})
