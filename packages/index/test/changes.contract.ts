import { expect, test } from 'vitest'
import type { Address } from '../src/model/evm.ts'
import { type AccountChange, ChangesExpiredError } from '../src/port/changes.ts'
import type { StoreReader } from '../src/port/store.ts'
import { accountKeys } from '../src/record/accountKeys.ts'
import { ChangeFilter } from '../src/record/ChangeFilter.ts'
import { encodeBlock } from '../src/record/encodeBlock.ts'
import { packBlocks } from '../src/record/packBlocks.ts'
import { buildChain, hashOf, people, poolTransaction, type TransactionPlan } from './buildChain.ts'
import { checkChanges } from './checkChanges.ts'
import { commitChain } from './commitChain.ts'
import { FoldedHistories, readChanges, readShown } from './foldChanges.ts'
import { withSnapshot } from './readAll.ts'
import type { OpenStore } from './store.contract.ts'
import { useStores } from './useStore.ts'

const [alice = '0x', bob = '0x', carol = '0x']: readonly Address[] = people

const blocksOf = (...names: readonly string[]): readonly (readonly TransactionPlan[])[] =>
  names.map(name => [{ name, parties: [alice, bob] }])

/** What the changes say, without records: kind, hash and accounts, and why. */
function told(changes: readonly AccountChange[]) {
  return changes.map(change => {
    const { kind, hash, parties } = change
    if (kind !== 'removed') return [kind, hash, parties]
    const { reason, replacedBy } = change
    return [kind, hash, parties, reason, ...(replacedBy === undefined ? [] : [replacedBy])]
  })
}

const newestOf = (reader: StoreReader) =>
  withSnapshot(reader, async snapshot => (await snapshot.changeBounds()).newest)

/** The log of changes. */
export function describeChanges(open: OpenStore, share = 1): void {
  const { start } = useStores(open)
  const seed = Number(process.env.CHAIN_DATA_SEED ?? Date.now() % 2 ** 31)

  /** Changes of some work, as a reader sees them that has seen all before. */
  const during = async (reader: StoreReader, work: () => Promise<unknown>) => {
    const before = await newestOf(reader)
    await work()
    return withSnapshot(reader, snapshot => readChanges(snapshot, before))
  }

  test(`the fold of the changes is the history after every step, and replays repeat what a reader saw (seed ${seed})`, async () => {
    expect(seed).toBeGreaterThanOrEqual(0)
    await checkChanges(start, seed, Math.ceil(24 * share))
  })

  test('a pool transaction is confirmed for its sender and receiver, and added for accounts that only the block names', async () => {
    const { writer, reader } = await start()
    await commitChain(writer, buildChain(blocksOf('first')))
    const pending = poolTransaction('sent', [alice, bob])
    const look = { present: [pending], seenAtSeconds: 5, headAfter: 0 }
    expect(told(await during(reader, () => writer.updatePool(look)))).toEqual([
      ['added', hashOf('sent'), [alice, bob]]
    ])
    const queued = { ...look, present: [{ ...pending, status: 0 as const }], seenAtSeconds: 6 }
    const [updated] = await during(reader, () => writer.updatePool(queued))
    expect(updated).toMatchObject({
      kind: 'updated',
      record: { transaction: { ...pending, status: 0, firstSeenSeconds: 5 } }
    })
    const plan = [[{ name: 'sent', parties: [alice, bob, carol] }]]
    const [parent] = buildChain(blocksOf('first'))
    const blocks = buildChain(plan, { parent: parent!.ref })
    const mined = await during(reader, () => commitChain(writer, blocks, { finalized: 1 }))
    expect(told(mined)).toEqual([
      // Of the block before, too: that it is final was not said yet.
      ['final', hashOf('first'), [alice, bob]],
      ['confirmed', hashOf('sent'), [alice, bob]],
      ['added', hashOf('sent'), [carol]],
      ['final', hashOf('sent'), [alice, bob, carol]]
    ])
    expect(mined[1]).toMatchObject({ block: blocks[0]?.ref })
    expect(new Set(mined.map(({ position }) => JSON.stringify(position))).size).toBe(4)
  })

  test('what replaces a pool transaction is named, in the pool and in a block; one that nobody replaces is dropped', async () => {
    const { writer, reader } = await start()
    const first = buildChain(blocksOf('first'))
    await commitChain(writer, first)
    const [low, high, left] = [
      { ...poolTransaction('low', [alice, bob], { nonce: 7n }), gasPrice: 1n },
      { ...poolTransaction('high', [alice, carol], { nonce: 7n }), gasPrice: 2n },
      poolTransaction('left', [bob], { nonce: 9n })
    ]
    await writer.updatePool({ present: [low, left], seenAtSeconds: 1, headAfter: 0 })
    const outbid = await during(reader, () =>
      writer.updatePool({ present: [high], seenAtSeconds: 2, headAfter: 1 })
    )
    expect(told(outbid)).toEqual([
      ['added', high.hash, [alice, carol]],
      ['removed', low.hash, [alice, bob], 'replaced', high.hash]
    ])
    // The one that left may be in the next block: only then it is known to be gone.
    const [block] = buildChain([[{ name: 'rival', parties: [alice] }]], { parent: first[0]!.ref })
    const transactions = block!.transactions.map(each => ({
      ...each,
      transaction: { ...each.transaction, nonce: 7n }
    }))
    const mined = await during(reader, () => commitChain(writer, [{ ...block!, transactions }]))
    expect(told(mined)).toEqual([
      ['added', hashOf('rival'), [alice]],
      ['removed', high.hash, [alice, carol], 'replaced', hashOf('rival')],
      ['removed', left.hash, [bob], 'dropped']
    ])
  })

  test('after a reorg a transaction is confirmed in another block, unconfirmed in the pool, or removed once the index is settled', async () => {
    const { writer, reader } = await start()
    const [root, ...old] = buildChain([
      ...blocksOf('root'),
      [
        { name: 'again', parties: [alice, bob] },
        { name: 'back', parties: [alice, bob, carol] },
        { name: 'gone', parties: [bob, carol] }
      ]
    ])
    const begin = await newestOf(reader)
    await commitChain(writer, [root!, ...old])
    const reorg = await during(reader, () => writer.rollbackTo(root!.ref))
    // Nothing is known of them yet.
    expect(reorg).toEqual([])
    const other = buildChain([[{ name: 'again', parties: [alice, carol] }]], { parent: root!.ref, fork: 'b' })
    expect(told(await during(reader, () => commitChain(writer, other)))).toEqual([
      ['confirmed', hashOf('again'), [alice]],
      ['added', hashOf('again'), [carol]],
      ['removed', hashOf('again'), [bob], 'reorged']
    ])
    const back = { present: [poolTransaction('back', [alice, bob])], seenAtSeconds: 3, headAfter: 1 }
    const looked = await during(reader, () => writer.updatePool(back))
    expect(told(looked)).toEqual([
      ['unconfirmed', hashOf('back'), [alice, bob]],
      ['removed', hashOf('back'), [carol], 'reorged']
    ])
    expect(told(await during(reader, () => writer.markSettled()))).toEqual([
      ['removed', hashOf('gone'), [bob, carol], 'reorged']
    ])
    await withSnapshot(reader, async snapshot => {
      const all = await readChanges(snapshot, begin)
      // The blocks that are gone are replayed as they were.
      expect(told(all.slice(1, 4))).toEqual([
        ['added', hashOf('again'), [alice, bob]],
        ['added', hashOf('back'), [alice, bob, carol]],
        ['added', hashOf('gone'), [bob, carol]]
      ])
      const fold = new FoldedHistories()
      for (const change of all) fold.take(change)
      for (const address of [alice, bob, carol]) {
        expect(fold.of(address)).toEqual(await readShown(snapshot, address))
      }
    })
  })

  test('a filter skips the entries that are of other accounts, and tells what it skips from what it keeps', async () => {
    const { writer, reader } = await start()
    const begin = await newestOf(reader)
    const blocks = buildChain(
      Array.from({ length: 120 }, (_, at) => [
        { name: `t ${at}`, parties: at === 50 ? [alice, carol] : [alice, bob] }
      ])
    )
    for (const block of blocks) {
      const finalized = block.ref.number - 20
      await commitChain(writer, [block], finalized < 0 ? {} : { finalized })
    }
    await withSnapshot(reader, async snapshot => {
      const filter = new ChangeFilter()
      const counts: number[] = []
      for (let time = 0; time < 3; time++) {
        const pages = []
        const watched = accountKeys([carol])
        for await (const page of snapshot.changes(begin, { watched, filter })) pages.push(page)
        expect(told(pages.flatMap(({ changes }) => changes))).toEqual([
          ['added', hashOf('t 50'), [carol]],
          ['final', hashOf('t 50'), [carol]]
        ])
        counts.push(pages.length)
        const { newest } = await snapshot.changeBounds()
        expect(pages.at(-1)?.position).toEqual(newest)
      }
      // Once it has learned them: two stretches, the entries at the end, and a page for what is skipped between them.
      const [all = 0, second = all, third] = counts
      expect(all).toBe(220)
      expect(second).toBeLessThan(all)
      expect(third).toBe(second)
    })
  })

  test('older blocks, blocks that are written anew, and reports are no changes', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain(blocksOf('one', 'two', 'three'))
    await commitChain(writer, blocks.slice(1))
    const changes = await during(reader, async () => {
      await writer.prependBlocks(packBlocks(blocks.slice(0, 1).map(encodeBlock)))
      await writer.replaceBlock(packBlocks(blocks.slice(1, 2).map(encodeBlock)))
      await writer.report({ phase: 'following', poolCovered: true })
      await writer.markSettled()
      await writer.markBackfilled()
    })
    expect(changes).toEqual([])
    expect(await newestOf(reader)).toEqual(await newestOf(reader))
  })

  test('the log keeps the newest blocks and no more bytes than it may; positions before are refused', async () => {
    const { writer, reader } = await start({ changeLogBlocks: 4 })
    const blocks = buildChain(
      Array.from({ length: 12 }, (_, at) => [{ name: `t ${at}`, parties: [alice, bob] }])
    )
    const positions = [await newestOf(reader)]
    for (const block of blocks) {
      const finalized = block.ref.number - 2
      await commitChain(writer, [block], finalized < 0 ? {} : { finalized })
      positions.push(await newestOf(reader))
    }
    await withSnapshot(reader, async snapshot => {
      const { oldest } = await snapshot.changeBounds()
      const replayed = positions.map(position =>
        readChanges(snapshot, position).then(told, error =>
          error instanceof ChangesExpiredError ? 'expired' : error
        )
      )
      const found = await Promise.all(replayed)
      const firstKept = positions.findIndex(({ entry }) => entry >= oldest.entry)
      expect(found.map(each => each === 'expired')).toEqual(positions.map((_, at) => at < firstKept))
      expect(firstKept).toBeGreaterThan(6)
      expect(firstKept).toBeLessThan(12)
      expect(found[11]).toEqual([
        ['final', hashOf('t 9'), [alice, bob]],
        ['added', hashOf('t 11'), [alice, bob]]
      ])
      const kept = await readChanges(snapshot, oldest)
      // Of a block whose own entry is dropped.
      expect(told(kept.slice(0, 1))).toEqual([['final', hashOf('t 6'), [alice, bob]]])
      expect(kept).toEqual(await readChanges(snapshot, positions[firstKept]!))
      await expect(
        readChanges(snapshot, { ...positions[12]!, entry: positions[12]!.entry - 1 })
      ).rejects.toThrow(ChangesExpiredError)
      await expect(
        readChanges(snapshot, { ...positions[12]!, entry: positions[12]!.entry + 1 })
      ).rejects.toThrow(ChangesExpiredError)
    })
  })

  test('few bytes keep few entries, and a restarted writer goes on with them', async () => {
    const { store, writer, reader } = await start({ changeLogBytes: 1_000 })
    const blocks = buildChain(
      Array.from({ length: 12 }, (_, at) => [{ name: `t ${at}`, parties: [alice, bob] }])
    )
    for (const block of blocks.slice(0, 11)) await commitChain(writer, [block])
    await writer.close()
    const next = await store.openWriter()
    const before = await newestOf(reader)
    await commitChain(next, blocks.slice(11))
    await withSnapshot(reader, async snapshot => {
      const { oldest } = await snapshot.changeBounds()
      const kept = await readChanges(snapshot, oldest)
      expect(kept.length).toBeGreaterThan(1)
      expect(kept.length).toBeLessThan(8)
      expect(told(await readChanges(snapshot, before))).toEqual([['added', hashOf('t 11'), [alice, bob]]])
    })
  })

  test('blocks far below the head are not logged: the log begins anew with the newest', async () => {
    const { writer, reader } = await start({ changeLogBlocks: 4 })
    const blocks = buildChain(blocksOf('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'))
    const begin = await newestOf(reader)
    await commitChain(writer, blocks.slice(0, 2), { head: 7 })
    const skipped = await newestOf(reader)
    await commitChain(writer, blocks.slice(2, 4), { head: 7 })
    const last = await newestOf(reader)
    await commitChain(writer, blocks.slice(4), { head: 7 })
    await withSnapshot(reader, async snapshot => {
      for (const position of [begin, skipped]) {
        await expect(readChanges(snapshot, position)).rejects.toThrow(ChangesExpiredError)
      }
      const names = told(await readChanges(snapshot, last)).map(([, hash]) => hash)
      expect(names).toEqual(['e', 'f', 'g', 'h'].map(hashOf))
    })
  })

  test('a reorg below what the log knows, an emptied index and a dropped pool begin the log anew', async () => {
    const { writer, reader } = await start({ changeLogBlocks: 2 })
    const blocks = buildChain(blocksOf('a', 'b', 'c', 'd', 'e'))
    for (const block of blocks) await commitChain(writer, [block])
    for (const work of [
      () => writer.rollbackTo(blocks[0]!.ref),
      () => writer.dropPool(),
      () => writer.dropChanges(),
      () => writer.rollbackAll()
    ]) {
      const before = await newestOf(reader)
      await work()
      await withSnapshot(reader, async snapshot => {
        await expect(readChanges(snapshot, before)).rejects.toThrow(ChangesExpiredError)
        const { oldest, newest } = await snapshot.changeBounds()
        expect(oldest).toEqual(newest)
        expect(await readChanges(snapshot, newest)).toEqual([])
      })
    }
  })

  test('a reader hears of commits, until it does not listen any more', async () => {
    const { writer, reader } = await start()
    const [first, second] = buildChain(blocksOf('a', 'b'))
    let calls = 0
    let wake = () => {}
    const end = reader.onCommit(() => {
      calls++
      wake()
    })
    // A listener may be called for what was there before.
    for (const block of [first!, second!]) {
      await commitChain(writer, [block])
      for (let isSeen = false; !isSeen; ) {
        const woken = new Promise<void>(resolve => {
          wake = resolve
        })
        isSeen = await withSnapshot(
          reader,
          async snapshot => (await snapshot.indexedRange())?.to.number === block.ref.number
        )
        if (!isSeen || calls === 0) await woken
      }
    }
    expect(calls).toBeGreaterThan(0)
    end()
    end()
  })
}
