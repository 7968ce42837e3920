import fc from 'fast-check'
import { expect } from 'vitest'
import type { Address, Hash, IndexedBlock } from '../src/model/evm.ts'
import { buildChain, type PresentTransaction, people, poolTransaction } from './buildChain.ts'
import { commitChain } from './commitChain.ts'
import { withSnapshot } from './readAll.ts'
import type { OpenedStore } from './useStore.ts'

const senders = people.slice(0, 3)
const receiver = people[3] ?? '0x'
const nonces = 4
const variants = 2

/** Every transaction that can occur: for each sender and nonce two rivals, the second one with the higher price. */
const universe: readonly PresentTransaction[] = senders.flatMap((from, sender) =>
  Array.from({ length: nonces * variants }, (_, place) => ({
    ...poolTransaction(`${sender} ${place}`, [from, receiver], {
      nonce: BigInt(Math.floor(place / variants))
    }),
    gasPrice: BigInt(10 + (place % variants))
  }))
)

type Step =
  | { readonly kind: 'look'; readonly shown: readonly (0 | 1 | undefined)[]; readonly ahead: number }
  /** For each block, which rival of each sender's next nonce it holds, if any. */
  | { readonly kind: 'blocks'; readonly rivals: readonly (readonly (number | undefined)[])[] }
  | { readonly kind: 'reorg'; readonly depth: number }
  | { readonly kind: 'restart' }

const arbitrarySteps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('look' as const),
        shown: fc.array(fc.constantFrom(0 as const, 1 as const, undefined, undefined), {
          minLength: universe.length,
          maxLength: universe.length
        }),
        ahead: fc.nat({ max: 2 })
      })
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('blocks' as const),
        rivals: fc.array(
          fc.array(fc.constantFrom(0, 1, undefined, undefined), {
            minLength: senders.length,
            maxLength: senders.length
          }),
          { minLength: 1, maxLength: 3 }
        )
      })
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 4 }) })
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) }
  ),
  { maxLength: 25 }
)

interface ModelEntry {
  readonly transaction: PresentTransaction
  readonly goneAt?: number
}

/** The pool as its rules say it, without a thought for cost: everything is worked out anew from the whole state. */
class PoolModel {
  chain: IndexedBlock[] = []
  entries = new Map<Hash, ModelEntry>()
  readonly firstSeen = new Map<Hash, number>()

  get head(): number {
    return this.chain.length - 1
  }

  look(present: readonly PresentTransaction[], seconds: number, headAfter: number): void {
    const alive = present.filter(transaction => !this.#isDead(transaction))
    const best = new Map<string, PresentTransaction>()
    for (const transaction of alive) {
      const rival = best.get(slot(transaction))
      if (rival === undefined || (transaction.gasPrice ?? 0n) > (rival.gasPrice ?? 0n)) {
        best.set(slot(transaction), transaction)
      }
    }
    const next = new Map<Hash, ModelEntry>()
    for (const transaction of best.values()) {
      if (!this.firstSeen.has(transaction.hash)) this.firstSeen.set(transaction.hash, seconds)
      next.set(transaction.hash, { transaction })
    }
    for (const [hash, entry] of this.entries) {
      if (best.has(slot(entry.transaction))) continue
      const goneAt = Math.min(entry.goneAt ?? headAfter, headAfter)
      if (goneAt > this.head) next.set(hash, { ...entry, goneAt })
    }
    this.entries = next
  }

  commit(blocks: readonly IndexedBlock[]): void {
    this.chain.push(...blocks)
    for (const [hash, { transaction, goneAt }] of this.entries) {
      if (this.#isDead(transaction) || (goneAt ?? this.head + 1) <= this.head) this.entries.delete(hash)
    }
  }

  rollBack(depth: number): void {
    this.chain.splice(-depth)
    this.forgetLooks()
  }

  forgetLooks(): void {
    for (const [hash, { transaction }] of this.entries) this.entries.set(hash, { transaction })
  }

  nextNonce(from: Address): bigint {
    return this.#confirmed().reduce(
      (next, { transaction }) => (transaction.from === from ? transaction.nonce + 1n : next),
      0n
    )
  }

  pending(address: Address) {
    return [...this.entries.values()]
      .map(({ transaction }) => transaction)
      .filter(({ from, to }) => from === address || to === address)
      .map(transaction => ({ ...transaction, firstSeenSeconds: this.firstSeen.get(transaction.hash) }))
      .sort((a, b) => b.status - a.status || Number(b.nonce - a.nonce) || (a.hash < b.hash ? -1 : 1))
  }

  #isDead({ from, nonce }: PresentTransaction): boolean {
    return this.#confirmed().some(
      ({ transaction }) => transaction.from === from && nonce <= transaction.nonce
    )
  }

  #confirmed() {
    return this.chain.flatMap(({ transactions }) => transactions)
  }
}

function slot({ from, nonce }: PresentTransaction): string {
  return `${from} ${nonce}`
}

/**
 * Compares the pool of a store with {@link PoolModel} after every step of random stories.
 * @param seed - a failure names it, and it repeats the run.
 * @param numRuns - how many stories.
 */
export async function checkPoolModel(
  start: () => Promise<OpenedStore>,
  seed: number,
  numRuns: number
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(arbitrarySteps, async steps => {
      const { store, reader, ...opened } = await start()
      let { writer } = opened
      const model = new PoolModel()
      for (const [number, step] of steps.entries()) {
        if (step.kind === 'look') {
          const present = universe.flatMap((transaction, place) => {
            const status = step.shown[place]
            return status === undefined ? [] : [{ ...transaction, status }]
          })
          const headAfter = model.head + step.ahead
          model.look(present, number, headAfter)
          await writer.updatePool({ present, seenAtSeconds: number, headAfter })
        } else if (step.kind === 'blocks') {
          const blocks = makeBlocks(model, step.rivals, `step ${number}`)
          model.commit(blocks)
          await commitChain(writer, blocks)
        } else if (step.kind === 'reorg') {
          const depth = Math.min(step.depth, model.head)
          if (depth <= 0) continue
          model.rollBack(depth)
          await writer.rollbackTo(model.chain.at(-1)!.ref)
        } else {
          await writer.close()
          writer = await store.openWriter()
          model.forgetLooks()
        }
        await withSnapshot(reader, async snapshot => {
          for (const address of [...senders, receiver]) {
            expect(await snapshot.pending(address), `step ${number}`).toEqual(model.pending(address))
          }
        })
      }
      await store.dispose()
    }),
    { numRuns, seed }
  )
}

/** Blocks that go on from the model's chain, each sender's nonces without a gap. */
function makeBlocks(
  model: PoolModel,
  rivals: readonly (readonly (number | undefined)[])[],
  fork: string
): IndexedBlock[] {
  const next = new Map(senders.map(sender => [sender, Number(model.nextNonce(sender))]))
  const parent = model.chain.at(-1)?.ref
  const blocks: IndexedBlock[] = []
  for (const choice of rivals) {
    const chosen = senders.flatMap((sender, place) => {
      const nonce = next.get(sender) ?? 0
      const rival = choice[place]
      if (rival === undefined || nonce >= nonces) return []
      next.set(sender, nonce + 1)
      const transaction = universe[place * nonces * variants + nonce * variants + rival]
      return transaction === undefined ? [] : [transaction]
    })
    const at = blocks.at(-1)?.ref ?? parent
    const plan = chosen.map(({ hash, from }) => ({ name: hash, parties: [from, receiver] }))
    for (const block of buildChain([plan], { ...(at === undefined ? {} : { parent: at }), fork })) {
      const transactions = block.transactions.map((indexed, place) => {
        const { hash, nonce } = chosen[place] ?? indexed.transaction
        return { ...indexed, transaction: { ...indexed.transaction, hash, nonce } }
      })
      blocks.push({ ...block, transactions })
    }
  }
  return blocks
}
