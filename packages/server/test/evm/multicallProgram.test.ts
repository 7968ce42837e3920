import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import type { Address } from '@chain-data/index'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ContractCall, encodeCalls } from '../../src/evm/state/contractCalls.ts'
import { type ProgramStrategy, programCall, readProgramOutcome } from '../../src/evm/state/sendCalls.ts'
import { createEvmRpc, type EvmUpstreams } from '../../src/nodes/evm/rpc.ts'
import {
  afterRounds,
  assembleContract,
  loops,
  returnsWord,
  returnsZeros,
  reverts
} from './assembleContract.ts'
import { callTo, createPlacer, returnedWord } from './useMulticall.ts'

let anvil: AnvilNode
let rpc: EvmUpstreams
let burning: Address
let refusing: Address
let thirsty: Address
let long: Address
let longer: Address

beforeAll(async () => {
  anvil = await startAnvil()
  rpc = createEvmRpc({ chainId: 31337, rpcUrls: [anvil.rpcUrl] })
  const place = createPlacer(rpc, 'anvil_setCode')
  burning = await place(assembleContract({}, loops))
  refusing = await place(assembleContract({}, reverts))
  // Of half a million gas it leaves a thousand.
  thirsty = await place(assembleContract({}, afterRounds(19_180, returnsWord(9))))
  long = await place(assembleContract({}, returnsZeros(20_000)))
  longer = await place(assembleContract({}, returnsZeros(200_000)))
  await rpc.request({ method: 'evm_mine', params: [] })
})
afterAll(async () => {
  rpc?.close()
  await anvil?.stop()
})

/** What the program itself says, in one call and without any second look. */
async function runProgram(
  way: ProgramStrategy,
  calls: readonly ContractCall[],
  gas: number,
  room = 1_000_000
) {
  const call = programCall(way, encodeCalls(calls, room), gas, '0x1')
  const [outcome] = await rpc.batch([call])
  const results = readProgramOutcome(outcome, calls.length)
  if (results === undefined) throw new Error(`the program did not end well with ${gas} gas`)
  return results
}

const everyGas = Array.from({ length: 240 }, (_, i) => 700_000 + i * 9_257)

describe.each(['stateOverride', 'deployless'] as const)('the program, by %s,', way => {
  test('begins no read that it cannot give all of its gas, wherever the gas comes to an end', async () => {
    const calls = [thirsty, burning, refusing, thirsty, thirsty, burning, thirsty].map(to => callTo(to))
    const expected = [
      returnedWord(9),
      'burnt',
      'reverted',
      returnedWord(9),
      returnedWord(9),
      'burnt',
      returnedWord(9)
    ]
    const counts = new Set<number>()
    for (const gas of everyGas) {
      const results = await runProgram(way, calls, gas)
      const attempted = results.filter(result => result !== undefined)
      counts.add(attempted.length)
      const shown = attempted.map(result => (result.kind === 'returned' ? result : result.kind))
      expect(shown, `${gas} gas`).toEqual(expected.slice(0, shown.length))
    }
    // It was seen to end at each read that costs much.
    for (const count of [1, 2, 4, 5]) expect(counts).toContain(count)
  })

  test('says that nothing is known when even the first read did not get its gas', async () => {
    expect(await runProgram(way, [callTo(thirsty), callTo(refusing)], 400_000)).toEqual([
      undefined,
      undefined
    ])
    expect(await runProgram(way, [callTo(refusing)], 400_000)).toEqual([undefined])
  })

  test('keeps answers whole and ends where there is no more room', async () => {
    const calls = Array.from({ length: 12 }, () => callTo(long, { gas: 100_000, maxReturnBytes: 20_000 }))
    const whole = { kind: 'returned', data: '00'.repeat(20_000) }
    const few = await runProgram(way, calls, 20_000_000, 70_000)
    expect(few).toEqual([whole, whole, whole, ...new Array(9).fill(undefined)])
    expect(await runProgram(way, calls, 20_000_000)).toEqual(calls.map(() => whole))
    expect(await runProgram(way, calls, 20_000_000, 100)).toEqual(new Array(12).fill(undefined))
  })

  test('keeps answers whole where memory for the next one costs more than is left', async () => {
    const calls = Array.from({ length: 6 }, () => callTo(longer, { gas: 150_000, maxReturnBytes: 200_000 }))
    const counts = new Set<number>()
    for (const gas of everyGas.filter((_, i) => i % 6 === 0)) {
      const results = await runProgram(way, calls, gas)
      const kept = results.filter(result => result !== undefined)
      counts.add(kept.length)
      expect(kept.every(result => result.kind === 'returned' && result.data.length === 400_000)).toBe(true)
      expect(results.indexOf(undefined), `${gas} gas`).toBe(kept.length)
    }
    expect(Math.min(...counts)).toBeGreaterThan(0)
    expect(counts.size).toBeGreaterThan(1)
  })

  test('copies nothing of what is longer than its cap, nor of what a revert says', async () => {
    const bomb = callTo(long, { maxReturnBytes: 19_999 })
    const cheap = 900_000
    expect(await runProgram(way, [bomb, callTo(refusing)], cheap, 64)).toEqual([
      { kind: 'tooLong' },
      { kind: 'reverted' }
    ])
  })
})
