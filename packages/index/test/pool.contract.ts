import { describe, expect, test } from 'vitest'
import type { Address, Hash, IndexedBlock } from '../src/model/evm.ts'
import type { PoolUpdate } from '../src/port/pool.ts'
import type { StoreReader } from '../src/port/store.ts'
import { buildChain, hashOf, type PresentTransaction, people, poolTransaction } from './buildChain.ts'
import { checkPoolModel } from './checkPoolModel.ts'
import { commitChain } from './commitChain.ts'
import { readHistory, readPending, withSnapshot } from './readAll.ts'
import type { OpenStore } from './store.contract.ts'
import { useStores } from './useStore.ts'

const [alice = '0x', bob = '0x', carol = '0x']: readonly Address[] = people

const look = (present: readonly PresentTransaction[], seenAtSeconds = 1000, headAfter = 0): PoolUpdate => ({
  present,
  seenAtSeconds,
  headAfter
})

const hashes = async (reader: StoreReader, address: Address): Promise<readonly Hash[]> =>
  (await readPending(reader, address)).map(({ hash }) => hash)

/** Transactions on their way into a block. */
export function describePool(open: OpenStore, share = 1): void {
  const { start } = useStores(open)
  const chain = buildChain([[], [], [{ name: 'a', parties: [alice, bob] }], [], []])
  const blocks = (from: number, to: number) => chain.slice(from, to + 1)

  test('sender and receiver find every field of a pool transaction, others find nothing', async () => {
    const { writer, reader } = await start()
    const sent = poolTransaction('a', [alice, bob])
    const creation = poolTransaction('b', [carol])
    await writer.updatePool(look([sent, creation], 1234))
    expect(await readPending(reader, alice)).toStrictEqual([{ ...sent, firstSeenSeconds: 1234 }])
    expect(await readPending(reader, bob)).toStrictEqual([{ ...sent, firstSeenSeconds: 1234 }])
    expect(await readPending(reader, carol)).toStrictEqual([{ ...creation, firstSeenSeconds: 1234 }])
    expect(await readPending(reader, people[3] ?? '0x')).toEqual([])
  })

  test('a transaction to oneself is found once', async () => {
    const { writer, reader } = await start()
    await writer.updatePool(look([poolTransaction('a', [alice, alice])]))
    expect(await hashes(reader, alice)).toEqual([hashOf('a')])
  })

  test('next ones come before queued ones, each by nonce descending, exact beyond 2^53', async () => {
    const { writer, reader } = await start()
    const entries = [
      poolTransaction('queued low', [alice], { status: 0, nonce: 3n }),
      poolTransaction('next low', [alice], { nonce: 1n }),
      poolTransaction('queued high', [alice], { status: 0, nonce: 2n ** 53n + 1n }),
      poolTransaction('queued less high', [alice], { status: 0, nonce: 2n ** 53n }),
      poolTransaction('next high', [alice], { nonce: 2n })
    ]
    await writer.updatePool(look(entries))
    expect(await hashes(reader, alice)).toEqual(
      ['next high', 'next low', 'queued high', 'queued less high', 'queued low'].map(hashOf)
    )
  })

  test('an entry listed both as next and as queued is next, whatever the order', async () => {
    const { writer, reader } = await start()
    const queued = poolTransaction('a', [alice], { status: 0 })
    const next = poolTransaction('a', [alice])
    for (const present of [
      [queued, next],
      [next, queued]
    ]) {
      await writer.updatePool(look(present))
      expect((await readPending(reader, alice)).map(({ status }) => status)).toEqual([1])
    }
  })

  test('status follows the pool; the first-seen second stays, also over a restart', async () => {
    const { store, writer, reader } = await start()
    await writer.updatePool(look([poolTransaction('a', [alice], { status: 0 })], 100))
    await writer.updatePool(look([poolTransaction('a', [alice])], 200))
    expect(await readPending(reader, alice)).toMatchObject([{ status: 1, firstSeenSeconds: 100 }])
    await writer.close()
    const restarted = await store.openWriter()
    await restarted.updatePool(look([poolTransaction('a', [alice])], 300))
    expect(await readPending(reader, alice)).toMatchObject([{ status: 1, firstSeenSeconds: 100 }])
  })

  test('a block that holds it turns a pending transaction into a confirmed one, in one step', async () => {
    const { writer, reader } = await start()
    await commitChain(writer, blocks(0, 1))
    await writer.updatePool(
      look([poolTransaction('a', [alice, bob]), poolTransaction('b', [alice], { nonce: 1n })], 100, 1)
    )
    await commitChain(writer, blocks(2, 2))
    await withSnapshot(reader, async snapshot => {
      expect((await snapshot.pending(alice)).map(({ hash }) => hash)).toEqual([hashOf('b')])
      expect((await readHistory(snapshot, alice)).map(({ hash }) => hash)).toEqual([hashOf('a')])
      expect(await snapshot.pending(bob)).toEqual([])
    })
  })

  test('what left the pool stays pending until the index has reached the head of that look', async () => {
    const { writer, reader } = await start()
    await commitChain(writer, blocks(0, 1))
    await writer.updatePool(
      look([poolTransaction('a', [alice]), poolTransaction('dropped', [alice], { nonce: 1n })], 100, 1)
    )
    await writer.updatePool(look([], 101, 3))
    expect(await hashes(reader, alice)).toHaveLength(2)
    // A later look with a later head does not extend the wait.
    await writer.updatePool(look([], 102, 4))
    await commitChain(writer, blocks(2, 2))
    expect(await hashes(reader, alice)).toEqual([hashOf('dropped')])
    await commitChain(writer, blocks(3, 3))
    expect(await hashes(reader, alice)).toEqual([])
  })

  test('what left the pool goes at once when the index is already there', async () => {
    const { writer, reader } = await start()
    await commitChain(writer, blocks(0, 1))
    await writer.updatePool(look([poolTransaction('dropped', [alice])], 100, 1))
    await writer.updatePool(look([], 101, 1))
    expect(await hashes(reader, alice)).toEqual([])
  })

  test('what left the pool and came back keeps its first-seen second and its place', async () => {
    const { writer, reader } = await start()
    await commitChain(writer, blocks(0, 1))
    const entry = poolTransaction('back', [alice], { nonce: 1n })
    await writer.updatePool(look([entry], 100, 1))
    await writer.updatePool(look([], 101, 4))
    await writer.updatePool(look([entry], 102, 2))
    await commitChain(writer, blocks(2, 4))
    expect(await readPending(reader, alice)).toMatchObject([{ firstSeenSeconds: 100 }])
    // Gone for good this time, and back a moment later.
    await writer.updatePool(look([], 103, 4))
    expect(await hashes(reader, alice)).toEqual([])
    await writer.updatePool(look([entry], 104, 4))
    expect(await readPending(reader, alice)).toMatchObject([{ firstSeenSeconds: 100 }])
  })

  test('a transaction that a reorg throws back into the pool keeps its first-seen second', async () => {
    const { writer, reader } = await start()
    const entry = poolTransaction('a', [alice, bob])
    await commitChain(writer, blocks(0, 1))
    await writer.updatePool(look([entry], 100, 1))
    await commitChain(writer, blocks(2, 2))
    await writer.rollbackTo(chain[1]?.ref ?? { number: -1, hash: '0x' })
    expect(await hashes(reader, alice)).toEqual([])
    await writer.updatePool(look([entry], 200, 1))
    expect(await readPending(reader, alice)).toMatchObject([{ hash: hashOf('a'), firstSeenSeconds: 100 }])
  })

  test('a look that still shows what the index has confirmed does not make it pending', async () => {
    const { writer, reader } = await start()
    await commitChain(writer, blocks(0, 3))
    await writer.updatePool(look([poolTransaction('a', [alice, bob])], 100, 1))
    expect(await hashes(reader, alice)).toEqual([])
  })

  test('replacements and large changes end in exactly what the pool holds', async () => {
    const { writer, reader } = await start()
    await commitChain(writer, blocks(0, 0))
    const entries = Array.from({ length: 300 }, (_, i) =>
      poolTransaction(`p${i}`, [alice], { nonce: BigInt(i) })
    )
    for (const part of [entries, entries.slice(0, 150), entries.slice(100, 250), [], entries.slice(7, 9)]) {
      await writer.updatePool(look(part))
      expect(new Set(await hashes(reader, alice))).toEqual(new Set(part.map(({ hash }) => hash)))
    }
  })

  describe('one sender and nonce', () => {
    const mined = (nonce: bigint, type?: number) => withNonce(chain, nonce, type)

    test('a block that confirms a nonce ends what its sender has with it or a lower one, and nothing else', async () => {
      const { writer, reader } = await start()
      await commitChain(writer, blocks(0, 1))
      const entries = [
        poolTransaction('lower', [alice], { nonce: 4n }),
        poolTransaction('replaced', [alice], { nonce: 5n }),
        poolTransaction('next', [alice], { nonce: 6n }),
        poolTransaction('of the receiver', [bob], { nonce: 5n })
      ]
      await writer.updatePool(look(entries, 100, 1))
      await commitChain(writer, mined(5n).slice(2, 3))
      expect(await hashes(reader, alice)).toEqual([hashOf('next')])
      expect(await hashes(reader, bob)).toEqual([hashOf('of the receiver')])
    })

    test('a look that still shows what a block has ended does not bring it back, not even after a restart', async () => {
      const { store, writer, reader } = await start()
      await commitChain(writer, mined(5n).slice(0, 4))
      const stale = look([poolTransaction('replaced', [alice], { nonce: 5n })], 100, 3)
      await writer.updatePool(stale)
      expect(await hashes(reader, alice)).toEqual([])
      await writer.close()
      await (await store.openWriter()).updatePool(stale)
      expect(await hashes(reader, alice)).toEqual([])
    })

    test('what a block has ended may come back once a reorg has removed that block', async () => {
      const { writer, reader } = await start()
      const chainOfFive = mined(5n)
      await commitChain(writer, chainOfFive.slice(0, 2))
      const replaced = poolTransaction('replaced', [alice], { nonce: 5n })
      await writer.updatePool(look([replaced], 100, 1))
      await commitChain(writer, chainOfFive.slice(2, 4))
      await writer.rollbackTo(chainOfFive[1]!.ref)
      await commitChain(writer, buildChain([[], [], []], { parent: chainOfFive[1]!.ref, fork: 'b' }))
      await writer.updatePool(look([replaced], 200, 4))
      expect(await readPending(reader, alice)).toMatchObject([{ hash: replaced.hash, firstSeenSeconds: 100 }])
    })

    test("a rollup's own transaction types end nothing: their nonces are not counted", async () => {
      const { writer, reader } = await start()
      await commitChain(writer, blocks(0, 1))
      await writer.updatePool(look([poolTransaction('first', [alice], { nonce: 0n })], 100, 1))
      await commitChain(writer, mined(0n, 0x64).slice(2, 3))
      expect(await hashes(reader, alice)).toEqual([hashOf('first')])
    })

    test('of two that the node shows, the one with the higher price is there, whichever came first', async () => {
      const low = { ...poolTransaction('low', [alice], { nonce: 0n }), gasPrice: 10n }
      const high = { ...poolTransaction('high', [alice], { nonce: 0n }), gasPrice: 11n }
      for (const looks of [[[low, high]], [[high, low]], [[low], [low, high]], [[high], [low, high]]]) {
        const { writer, reader } = await start()
        await commitChain(writer, blocks(0, 0))
        for (const present of looks) await writer.updatePool(look(present))
        expect(await hashes(reader, alice)).toEqual([high.hash])
      }
    })

    test('of two fee caps alike the higher tip decides; a legacy price is both', async () => {
      const { writer, reader } = await start()
      const { gasPrice: _, ...bare } = poolTransaction('tip', [alice], { nonce: 0n })
      const capped = { ...bare, type: 2, maxFeePerGas: 10n, maxPriorityFeePerGas: 2n }
      const better = { ...capped, hash: hashOf('better tip'), maxPriorityFeePerGas: 3n }
      const legacy = { ...poolTransaction('legacy', [alice], { nonce: 0n }), gasPrice: 10n }
      await writer.updatePool(look([better, capped]))
      expect(await hashes(reader, alice)).toEqual([better.hash])
      await writer.updatePool(look([better, legacy]))
      expect(await hashes(reader, alice)).toEqual([legacy.hash])
    })

    test('what left the pool is gone at once when another has its nonce, also one with a lower price', async () => {
      const { writer, reader } = await start()
      await commitChain(writer, blocks(0, 1))
      await writer.updatePool(
        look([{ ...poolTransaction('old', [alice], { nonce: 0n }), gasPrice: 20n }], 100, 1)
      )
      await writer.updatePool(look([poolTransaction('new', [alice], { nonce: 0n })], 101, 3))
      expect(await hashes(reader, alice)).toEqual([hashOf('new')])
    })
  })

  test('after a reorg, what has left the pool waits for the blocks of the next look, not of an earlier one', async () => {
    const { writer, reader } = await start()
    const entry = poolTransaction('moved', [alice], { nonce: 9n })
    await commitChain(writer, blocks(0, 2))
    await writer.updatePool(look([entry], 100, 2))
    await writer.updatePool(look([], 101, 3))
    await writer.rollbackTo(chain[0]!.ref)
    await commitChain(writer, buildChain([[], [], []], { parent: chain[0]!.ref, fork: 'b' }))
    // The block of the new chain that holds it may be one that is still to come.
    expect(await hashes(reader, alice)).toEqual([entry.hash])
    await writer.updatePool(look([], 102, 4))
    expect(await hashes(reader, alice)).toEqual([entry.hash])
  })

  test('any sequence of looks, blocks, reorgs and restarts ends in what a naive model of the pool says', async () => {
    const seed = Number(process.env.CHAIN_DATA_POOL_SEED ?? Date.now() % 2 ** 31)
    await checkPoolModel(() => start(), seed, Math.ceil(60 * share))
  })
}

/** The chain again, with every transaction on this nonce. */
function withNonce(chain: readonly IndexedBlock[], nonce: bigint, type = 2): readonly IndexedBlock[] {
  return chain.map(block => ({
    ...block,
    transactions: block.transactions.map(indexed => ({
      ...indexed,
      transaction: { ...indexed.transaction, nonce, type }
    }))
  }))
}
