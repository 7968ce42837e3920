import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chooseRuns, type MergeLayout } from './chooseRuns.ts'
import type { Run } from './run.ts'

/** A run, and how often a transaction in it was copied at most. */
interface CopiedRun extends Run {
  readonly copies: number
}

const layout: MergeLayout = {
  mergeFactor: 8,
  unmergedBlocks: 12,
  maxUnsettled: 20_000,
  maxTransactions: 500_000
}

const arbitraryStep = fc.oneof(
  fc.record({
    kind: fc.constant('commit' as const),
    count: fc.integer({ min: 1, max: 60 }),
    blocks: fc.constantFrom(1, 1, 1, 2, 10, 100, 1_000),
    perBlock: fc.constantFrom(0, 1, 20, 150, 500)
  }),
  fc.record({
    kind: fc.constant('prepend' as const),
    count: fc.integer({ min: 1, max: 30 }),
    blocks: fc.constantFrom(1, 10, 100, 1_000),
    perBlock: fc.constantFrom(0, 1, 20, 150, 500)
  }),
  fc.record({ kind: fc.constant('reorg' as const), depth: fc.constantFrom(1, 2, 5, 20, 100) }),
  fc.record({ kind: fc.constant('final' as const), behind: fc.constantFrom(0, 32, 64, 1_000, 100_000) })
)
type Step = typeof arbitraryStep extends fc.Arbitrary<infer S> ? S : never

/** The runs of one chain. Merges are carried out in the order in which a writer would. */
class ModelRuns {
  runs: readonly CopiedRun[] = []
  finalized: number | undefined
  #number = 0

  commit(blocks: number, perBlock: number): void {
    const first = (this.runs.at(-1)?.lastBlock ?? 9_999_999) + 1
    this.runs = [...this.runs, this.#run(first, first + blocks - 1, blocks * perBlock, 0)]
  }

  prepend(blocks: number, perBlock: number): void {
    const last = (this.runs[0]?.firstBlock ?? 10_000_000) - 1
    this.runs = [this.#run(last - blocks + 1, last, blocks * perBlock, 0), ...this.runs]
  }

  /** Writes what is left of a run anew. */
  reorg(depth: number): void {
    const block = Math.max(this.runs[0]?.firstBlock ?? 0, (this.runs.at(-1)?.lastBlock ?? 0) - depth)
    this.runs = this.runs.flatMap(run => {
      if (run.lastBlock <= block) return [run]
      if (run.firstBlock > block) return []
      const share = (block - run.firstBlock + 1) / (run.lastBlock - run.firstBlock + 1)
      return [this.#run(run.firstBlock, block, Math.floor(run.transactions * share), 0)]
    })
  }

  final(behind: number): void {
    const head = this.runs.at(-1)?.lastBlock ?? -1
    this.finalized = Math.max(this.finalized ?? -1, head - behind)
  }

  /** @returns the transactions that were copied; absent: there is nothing to merge. */
  merge(): number | undefined {
    const chosen = chooseRuns(this.runs, this.finalized, layout) as readonly CopiedRun[] | undefined
    const [first, last] = [chosen?.[0], chosen?.at(-1)]
    if (chosen === undefined || first === undefined || last === undefined) return undefined
    const transactions = chosen.reduce((sum, run) => sum + run.transactions, 0)
    expect(transactions).toBeLessThanOrEqual(layout.maxTransactions)
    const isFinal = last.lastBlock <= (this.finalized ?? -1)
    if (!isFinal) expect(transactions).toBeLessThanOrEqual(layout.maxUnsettled)
    const copies = 1 + Math.max(...chosen.map(run => run.copies))
    const merged = this.#run(first.firstBlock, last.lastBlock, transactions, copies)
    const start = this.runs.indexOf(first)
    expect(this.runs.slice(start, start + chosen.length)).toEqual(chosen)
    this.runs = [...this.runs.slice(0, start), merged, ...this.runs.slice(start + chosen.length)]
    return transactions
  }

  #run(firstBlock: number, lastBlock: number, transactions: number, copies: number): CopiedRun {
    return {
      ...{ number: this.#number++, firstBlock, lastBlock, transactions, copies },
      lastHash: new Uint8Array(32),
      indexBits: 9,
      sections: []
    }
  }
}

/** Runs that may be there: some of each level among final blocks and among others, those that are too young, and full ones. */
function allowedRuns({ runs, finalized = -1 }: ModelRuns): number {
  const { mergeFactor, unmergedBlocks, maxUnsettled, maxTransactions } = layout
  const isFinal = ({ lastBlock }: Run) => lastBlock <= finalized
  const allowedOf = (some: readonly Run[], most: number) => {
    const size = some.reduce((sum, run) => sum + run.transactions + run.lastBlock - run.firstBlock + 1, 1)
    const transactions = some.reduce((sum, run) => sum + run.transactions, 0)
    const levels = Math.ceil(Math.log(size) / Math.log(mergeFactor)) + 1
    return levels * (mergeFactor - 1) + (2 * transactions) / most
  }
  const final = runs.filter(isFinal)
  const others = runs.filter(run => !isFinal(run))
  return unmergedBlocks + allowedOf(final, maxTransactions) + allowedOf(others, maxUnsettled)
}

function carryOut(model: ModelRuns, step: Step, after: () => void): void {
  if (step.kind === 'reorg') model.reorg(step.depth)
  if (step.kind === 'final') model.final(step.behind)
  const count = 'count' in step ? step.count : 1
  for (let i = 0; i < count; i++) {
    if (step.kind === 'commit') model.commit(step.blocks, step.perBlock)
    if (step.kind === 'prepend') model.prepend(step.blocks, step.perBlock)
    after()
  }
}

describe('runs that are merged', () => {
  it('stay few, whatever is committed, and each row is copied a few times', () => {
    fc.assert(
      fc.property(fc.array(arbitraryStep, { minLength: 10, maxLength: 60 }), steps => {
        const model = new ModelRuns()
        for (const step of steps) {
          carryOut(model, step, () => {
            while (model.merge() !== undefined);
          })
          expect(model.runs.length).toBeLessThanOrEqual(allowedRuns(model))
          expect(Math.max(0, ...model.runs.map(({ copies }) => copies))).toBeLessThanOrEqual(12)
        }
      }),
      { numRuns: 100 }
    )
  })

  it.each([
    ['whose node never calls a block final', undefined],
    ['whose blocks are final late', 20_000]
  ])('stay few on a long chain %s', (_, behind) => {
    const model = new ModelRuns()
    for (let block = 0; block < 60_000; block++) {
      model.commit(1, 5)
      if (behind !== undefined && block > behind) model.final(behind)
      while (model.merge() !== undefined);
    }
    expect(model.runs.length).toBeLessThanOrEqual(allowedRuns(model))
  })
})
