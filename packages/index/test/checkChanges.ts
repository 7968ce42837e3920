import fc from 'fast-check'
import { expect } from 'vitest'
import type { Address, IndexedBlock } from '../src/model/evm.ts'
import type { AccountChange, ChangeBounds, ChangePosition } from '../src/port/changes.ts'
import type { StoreWriter } from '../src/port/writer.ts'
import { accountKeys } from '../src/record/accountKeys.ts'
import { ChangeFilter } from '../src/record/ChangeFilter.ts'
import { arbitraryLayout } from './arbitraries.ts'
import { buildChain, type PresentTransaction, people, poolTransaction } from './buildChain.ts'
import { commitChain } from './commitChain.ts'
import { FoldedHistories, readChanges, readShown } from './foldChanges.ts'
import { withSnapshot } from './readAll.ts'
import type { StoreLayout } from './store.contract.ts'
import type { OpenedStore } from './useStore.ts'

const senders = people.slice(0, 3)
const [receiver, ...others] = people.slice(3, 6) as [Address, ...Address[]]
const nonces = 4
const variants = 2

/** Every transaction that can occur: for each sender and nonce two rivals, the second one with the higher price. */
const universe: readonly PresentTransaction[] = senders.flatMap((from, sender) =>
  Array.from({ length: nonces * variants }, (_, at) => ({
    ...poolTransaction(`${sender} ${at}`, [from, receiver], { nonce: BigInt(Math.floor(at / variants)) }),
    gasPrice: BigInt(10 + (at % variants))
  }))
)

const choices = <const T>(values: readonly T[], length: number) =>
  fc.array(fc.constantFrom(...values), { minLength: length, maxLength: length })

const arbitraryStep = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('look' as const),
      shown: choices([0, 1, undefined, undefined], universe.length),
      ahead: fc.nat({ max: 2 }),
      settles: fc.boolean()
    })
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('blocks' as const),
      /** For each block, which rival of each sender's next nonce it holds, and who else is a party of it. */
      rivals: fc.array(choices([0, 1, undefined], senders.length), { minLength: 1, maxLength: 3 }),
      alsoNames: fc.option(fc.constantFrom(...others), { nil: undefined }),
      finalDepth: fc.option(fc.nat({ max: 3 }), { nil: undefined })
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 4 }) })
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('final' as const), depth: fc.nat({ max: 3 }) })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) }
)
type Step = typeof arbitraryStep extends fc.Arbitrary<infer T> ? T : never

const everyone = [...senders, receiver, ...others]

/** Positions that a reader had, with the changes that it had seen then. */
interface Seen {
  readonly position: ChangePosition
  readonly count: number
}

/**
 * Folds the changes of random stories, and compares with the histories of the store after every step while the index is settled.
 * In the end every replay, from whatever position a reader had, has to give what the reader saw.
 * @param seed - a failure names it, and it repeats the run.
 */
export async function checkChanges(
  start: (layout?: Partial<StoreLayout>) => Promise<OpenedStore>,
  seed: number,
  numRuns: number
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryStep, { maxLength: 25 }), arbitraryLayout, async (steps, layout) => {
      const { store, reader, ...opened } = await start(layout)
      let { writer } = opened
      let chain: IndexedBlock[] = []
      const fold = new FoldedHistories()
      const all: AccountChange[] = []
      const seen: Seen[] = []
      let { newest } = await withSnapshot(reader, snapshot => snapshot.changeBounds())
      for (const [number, step] of steps.entries()) {
        if (step.kind === 'restart') {
          await writer.close()
          writer = await store.openWriter()
        } else chain = await carryOut(writer, step, chain, number)
        await withSnapshot(reader, async snapshot => {
          const found = await readChanges(snapshot, newest)
          for (const change of found) fold.take(change)
          all.push(...found)
          for (const [at, { position }] of found.entries()) {
            seen.push({ position, count: all.length - found.length + at + 1 })
          }
          newest = (await snapshot.changeBounds()).newest
          seen.push({ position: newest, count: all.length })
          if (!(await snapshot.marks()).settled) return
          for (const address of everyone) {
            expect(fold.of(address), `step ${number}`).toEqual(await readShown(snapshot, address))
          }
        })
      }
      await withSnapshot(reader, async snapshot => {
        const bounds: ChangeBounds = await snapshot.changeBounds()
        expect(bounds.oldest.entry).toBe(0)
        for (const { position, count } of seen) {
          expect(await readChanges(snapshot, position)).toEqual(all.slice(count))
        }
        // A filter that learns here and there, as replays come.
        const filter = new ChangeFilter()
        for (const { position, count } of seen.toReversed()) {
          const address = everyone[count % everyone.length] ?? receiver
          const replayed = await readChanges(snapshot, position, { watched: accountKeys([address]), filter })
          expect(replayed).toEqual(ofKey(all.slice(count), address))
        }
        for (const address of everyone) {
          for (const options of [{}, { filter }]) {
            const watched = accountKeys([address])
            const replayed = await readChanges(snapshot, bounds.oldest, { ...options, watched })
            expect(replayed).toEqual(ofKey(all, address))
          }
        }
      })
      await store.dispose()
    }),
    { numRuns, seed }
  )
}

/** The changes of an account, and of those that have its key. */
function ofKey(changes: readonly AccountChange[], address: Address): readonly AccountChange[] {
  const [key] = accountKeys([address])
  return changes.flatMap(change => {
    const parties = change.parties.filter(party => accountKeys([party])[0] === key)
    return parties.length === 0 ? [] : [{ ...change, parties }]
  })
}

/** @returns the chain afterwards. */
async function carryOut(
  writer: StoreWriter,
  step: Exclude<Step, { readonly kind: 'restart' }>,
  chain: readonly IndexedBlock[],
  number: number
): Promise<IndexedBlock[]> {
  const head = chain.length - 1
  switch (step.kind) {
    case 'look': {
      const present = universe.flatMap((transaction, at) => {
        const status = step.shown[at]
        return status === undefined ? [] : [{ ...transaction, status }]
      })
      await writer.updatePool({ present, seenAtSeconds: number, headAfter: head + step.ahead })
      if (step.settles) await writer.markSettled()
      return [...chain]
    }
    case 'blocks': {
      const blocks = makeBlocks(chain, step, `step ${number}`)
      const last = blocks.at(-1)?.ref.number ?? 0
      const { finalDepth } = step
      await commitChain(
        writer,
        blocks,
        finalDepth === undefined ? {} : { finalized: Math.max(0, last - finalDepth) }
      )
      return [...chain, ...blocks]
    }
    case 'final':
      await writer.markFinal(head - step.depth)
      return [...chain]
    case 'reorg': {
      const depth = Math.min(step.depth, head)
      if (depth <= 0) return [...chain]
      const kept = chain.slice(0, -depth)
      await writer.rollbackTo(kept.at(-1)!.ref)
      return kept
    }
  }
}

/** Blocks that go on from the chain, each sender's nonces without a gap. */
function makeBlocks(
  chain: readonly IndexedBlock[],
  { rivals, alsoNames }: Extract<Step, { readonly kind: 'blocks' }>,
  fork: string
): readonly IndexedBlock[] {
  const mined = chain.flatMap(({ transactions }) => transactions)
  const next = new Map(
    senders.map(sender => [sender, mined.filter(({ transaction }) => transaction.from === sender).length])
  )
  const blocks: IndexedBlock[] = []
  for (const choice of rivals) {
    const chosen = senders.flatMap((sender, at) => {
      const nonce = next.get(sender) ?? 0
      const rival = choice[at]
      if (rival === undefined || nonce >= nonces) return []
      next.set(sender, nonce + 1)
      return universe[at * nonces * variants + nonce * variants + rival] ?? []
    })
    const parent = (blocks.at(-1) ?? chain.at(-1))?.ref
    const parties = ({ from }: PresentTransaction) => [
      from,
      receiver,
      ...(alsoNames === undefined ? [] : [alsoNames])
    ]
    const plan = chosen.map(each => ({ name: each.hash, parties: parties(each) }))
    for (const block of buildChain([plan], { ...(parent === undefined ? {} : { parent }), fork })) {
      const transactions = block.transactions.map((indexed, at) => {
        const { hash, nonce } = chosen[at] ?? indexed.transaction
        return { ...indexed, transaction: { ...indexed.transaction, hash, nonce } }
      })
      blocks.push({ ...block, transactions })
    }
  }
  return blocks
}
