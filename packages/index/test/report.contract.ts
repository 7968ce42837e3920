import { expect, test } from 'vitest'
import type { WriterReport } from '../src/port/status.ts'
import type { StoreReader } from '../src/port/store.ts'
import { buildChain, people } from './buildChain.ts'
import { commitChain } from './commitChain.ts'
import { withSnapshot } from './readAll.ts'
import { type OpenStore, testIdentity } from './store.contract.ts'
import { useStores } from './useStore.ts'

const blocks = buildChain(['a', 'b'].map(name => [{ name, parties: people.slice(0, 1) }]))
const full: Omit<WriterReport, 'beat'> = {
  ...{
    phase: 'backfilling',
    head: 9,
    headTimestampSeconds: 1_700_000_000,
    finalized: 3,
    indexedTo: 5,
    rollingBackTo: -1
  },
  ...{ poolCovered: true, poolAgeMs: 12, problem: "the node's answer is odd" }
}
const bare: Omit<WriterReport, 'beat'> = { phase: 'starting', poolCovered: false }

/** What the writer says of itself, for servers that wait for its place. */
export function describeReport(open: OpenStore): void {
  const { create, start } = useStores(open)
  const read = (reader: StoreReader) => withSnapshot(reader, snapshot => snapshot.writerReport())

  test('what the writer has said last is read, with everything that it left out absent', async () => {
    const { writer, reader } = await start()
    expect(await read(reader)).toBeUndefined()
    await writer.report(full)
    expect(await read(reader)).toEqual({ ...full, beat: expect.any(Number) })
    await writer.report(bare)
    expect(await read(reader)).toEqual({ ...bare, beat: expect.any(Number) })
  })

  test('whatever a problem holds, it is told', async () => {
    const { writer, reader } = await start()
    await writer.report({ ...full, problem: "a \0 \ud800 \\ ' $1 é b" })
    expect((await read(reader))?.problem).toMatch(/^a /)
  })

  test('every report has another beat, also when it says the same, and also of the next writer', async () => {
    const { store, writer, reader } = await start()
    const beats: (number | undefined)[] = []
    const say = async (by: typeof writer) => {
      await by.report(full)
      beats.push((await read(reader))?.beat)
    }
    await say(writer)
    await say(writer)
    await writer.rollbackAll()
    await writer.close()
    const next = await store.openWriter()
    await say(next)
    expect(new Set(beats)).toHaveProperty('size', 3)
    expect(beats).not.toContain(undefined)
  })

  test('a view that is open shows what was said before it, and whoever sees a report sees what was committed before it', async () => {
    const { writer, reader } = await start()
    await writer.report(bare)
    const early = await reader.openSnapshot()
    await commitChain(writer, blocks)
    await writer.report(full)
    expect(await early.writerReport()).toMatchObject(bare)
    expect(await early.indexedRange()).toBeUndefined()
    await early.close()
    await withSnapshot(reader, async snapshot => {
      expect(await snapshot.writerReport()).toMatchObject(full)
      expect((await snapshot.indexedRange())?.to).toEqual(blocks.at(-1)?.ref)
    })
  })

  test('reports change nothing of what the blocks determine', async () => {
    const { store, writer } = await start()
    await commitChain(writer, blocks)
    const [dump, state] = [await store.dump(), await writer.state()]
    await writer.report(full)
    expect(await store.dump()).toBe(dump)
    expect(await writer.state()).toEqual(state)
  })

  test('a view says which chain it is of, once there is a store', async () => {
    const store = await create()
    const reader = await store.openReader()
    expect(await withSnapshot(reader, snapshot => snapshot.identity())).toBeUndefined()
    await store.openWriter()
    expect(await withSnapshot(reader, snapshot => snapshot.identity())).toEqual(testIdentity)
  })
}
