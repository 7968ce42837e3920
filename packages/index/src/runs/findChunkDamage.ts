import { type Damage, damageOf, unlessDamaged } from '../platform/errors.ts'
import { partCount, startOfPart } from '../record/keyParts.ts'
import { damagedChunk, type OpenChunk, openChunk } from './chunk.ts'
import { type ChunkReads, findChunks } from './chunkReads.ts'
import { compareKeys } from './keys.ts'
import type { Run } from './run.ts'
import { type Section, sectionList, sections } from './sections.ts'

const chunksAtOnce = 64

/**
 * Checks the chunks of all runs whose keys begin with certain bits: those of the parts from `firstPart` up to, but not including,
 * `endPart`, of `partCount`.
 * @returns damage as it is found, once for each section of a run; absent between two pieces of work.
 */
export async function* findChunkDamage(
  reads: ChunkReads,
  chainId: number,
  runs: readonly Run[],
  firstPart: number,
  endPart: number
): AsyncGenerator<Damage | undefined> {
  const start = startOfPart(firstPart)
  const end = endPart >= partCount ? undefined : startOfPart(endPart)
  const [, atOnce] = reads.searchesAtOnce
  for (const section of sectionList) {
    if (section === sections.filter && firstPart > 0) continue
    for (let at = 0; at < runs.length; at += atOnce) {
      const asked = runs.slice(at, at + atOnce)
      const wanted = asked.map(run => ({ run, key: start }))
      const first = await unlessDamaged(findChunks(reads, chainId, section, wanted))
      for (const [i, run] of asked.entries()) {
        try {
          // Where the chunk of one is damaged, each is looked for by itself.
          const chunk = first
            ? first[i]
            : (await findChunks(reads, chainId, section, [{ run, key: start }]))[0]
          yield* checkSection(reads, chainId, run, section, chunk, end)
        } catch (error) {
          yield damageOf(error)
        }
      }
      yield
    }
  }
}

async function* checkSection(
  reads: ChunkReads,
  chainId: number,
  run: Run,
  section: Section,
  first: OpenChunk | undefined,
  end: Uint8Array | undefined
): AsyncGenerator<undefined> {
  let chunk = first
  const isBefore = (bound: Uint8Array) =>
    bound.length > 0 && (end === undefined || compareKeys(bound, end) < 0)
  while (chunk !== undefined && isBefore(chunk.upper)) {
    const found = await reads.scan(run.number, section.number, chunk.upper, chunksAtOnce)
    const before: number = chunk.number
    const position = { run: run.number, section: section.number, number: before + 1 }
    if (found.length === 0) throw damagedChunk(position, 'it is missing')
    const opened: OpenChunk[] = []
    for (const [i, { number, bytes }] of found.entries()) {
      const expected = { ...position, number: before + 1 + i }
      const next = openChunk(chainId, { ...expected, number }, bytes)
      if (number !== expected.number || compareKeys(next.lower, chunk.upper) !== 0) {
        throw damagedChunk(expected, 'it is missing')
      }
      chunk = next
      opened.push(next)
      if (!isBefore(chunk.upper)) break
    }
    // Each is found by its bound, too: that is stored beside it.
    await findChunks(
      reads,
      chainId,
      section,
      opened.map(({ lower }) => ({ run, key: lower }))
    )
    yield
  }
}
