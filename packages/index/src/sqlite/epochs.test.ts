import { expect, test } from 'vitest'
import { proofs } from './epochSums.ts'
import type { Epoch } from './epochs.ts'
import { chooseEpochs, chooseUnlinked } from './epochs.ts'

const layout = { epochTransactions: 10, mergeFanOut: 3 }

/** Epochs of these sizes, one block each, from block 100 on. */
const epochsOf = (...sizes: readonly number[]): readonly Epoch[] =>
  sizes.map((txCount, i) => ({ id: i, firstBlock: 100 + i, txCount, proof: proofs.parts }))

const chosenSizes = (epochs: readonly Epoch[], safeBlock = 10_000) =>
  chooseEpochs(epochs, safeBlock, layout)?.map(({ txCount }) => txCount)

test('the oldest neighbours of the lowest level are merged once there are enough', () => {
  expect(chosenSizes(epochsOf(10, 11, 12))).toBeUndefined()
  expect(chosenSizes(epochsOf(10, 11, 12, 13, 5))).toEqual([10, 11, 12])
  expect(chosenSizes(epochsOf(40, 41, 42, 10, 11, 12, 5))).toEqual([10, 11, 12])
  expect(chosenSizes(epochsOf(40, 41, 42, 10, 11, 5))).toEqual([40, 41, 42])
})

test('the newest epoch, and those with blocks that may be removed, are left alone', () => {
  expect(chosenSizes(epochsOf(10, 11, 12))).toBeUndefined()
  const epochs = epochsOf(10, 11, 12, 13, 14)
  expect(chosenSizes(epochs, 102)).toEqual([10, 11, 12])
  expect(chosenSizes(epochs, 101)).toBeUndefined()
})

test('the oldest epoch is left alone while older blocks may be added to it', () => {
  expect(chosenSizes(epochsOf(2, 40, 41, 42, 5))).toEqual([40, 41, 42])
  const [oldest, ...others] = epochsOf(2, 40, 41, 5)
  expect(chosenSizes([oldest!, ...others])).toBeUndefined()
  expect(chosenSizes([{ ...oldest!, firstBlock: 0 }, ...others])).toBeUndefined()
  const two = [oldest!, others.at(-1)!]
  expect(chooseUnlinked(two, [], 10_000, layout)).toBeUndefined()
  expect(chooseUnlinked([{ ...oldest!, firstBlock: 0 }, ...two.slice(1)], [], 10_000, layout)).toHaveLength(1)
})

test('smaller ones before and between the others go along, larger ones separate', () => {
  expect(chosenSizes(epochsOf(40, 10, 41, 42, 5))).toEqual([40, 10, 41, 42])
  expect(chosenSizes(epochsOf(50, 2, 40, 41, 5))).toEqual([50, 2, 40, 41])
  expect(chosenSizes(epochsOf(10, 11, 100, 12, 13, 5))).toBeUndefined()
})

test('a merged epoch is of a higher level than its parts, so that merging comes to an end', () => {
  let epochs = epochsOf(...Array.from({ length: 200 }, (_, i) => 10 + (i % 3)), 4)
  let copied = 0
  for (
    let chosen = chooseEpochs(epochs, 10_000, layout);
    chosen;
    chosen = chooseEpochs(epochs, 10_000, layout)
  ) {
    const sources = new Set(chosen.map(({ id }) => id))
    const txCount = chosen.reduce((sum, each) => sum + each.txCount, 0)
    copied += txCount
    const merged = { id: -copied, firstBlock: chosen[0]?.firstBlock ?? 0, txCount, proof: proofs.rows }
    epochs = [...epochs.filter(({ id }) => !sources.has(id)), merged].sort(
      (a, b) => a.firstBlock - b.firstBlock
    )
  }
  expect(epochs.length).toBeLessThan(3 * 5)
  const all = epochs.reduce((sum, { txCount }) => sum + txCount, 0)
  expect(copied / all).toBeLessThanOrEqual(5)
})
