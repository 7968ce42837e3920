import { type Chunk, type ChunkPosition, checksumOf, damagedChunk, openChunk, sealChunk } from './chunk.ts'
import type { ChunkReads } from './chunkReads.ts'
import { Filter } from './Filter.ts'
import type { Run } from './run.ts'
import type { SectionSummary } from './SectionWriter.ts'
import { sections } from './sections.ts'

const nothing = new Uint8Array(0)

/** Puts a filter into the only chunk of its section. @returns the summary of the section, which counts the bytes of the filter as rows. */
export function sealFilter(
  chainId: number,
  run: number,
  filter: Filter | undefined,
  put: (chunk: Chunk) => void
): SectionSummary {
  if (filter === undefined) return { rows: 0, chunks: 0, checksum: 0 }
  const position: ChunkPosition = { run, section: sections.filter.number, number: 0 }
  const bytes = sealChunk(chainId, position, nothing, nothing, filter.bytes)
  put({ ...position, lower: nothing, bytes })
  return { rows: filter.bytes.length, chunks: 1, checksum: checksumOf(bytes) }
}

/** A run, with its filter where it has one. */
export interface FilteredRun {
  readonly run: Run
  readonly filter: Filter | undefined
}

/**
 * Reads the filters of runs.
 * @param known - those that need not be read again. They are known by number and checksum: after a fail-over a number may come again.
 * @throws {IndexDamagedError} one is missing or altered.
 */
export async function readFilters(
  reads: ChunkReads,
  chainId: number,
  runs: readonly Run[],
  known: readonly FilteredRun[]
): Promise<readonly FilteredRun[]> {
  const byKey = new Map(known.map(each => [keyOf(each.run), each.filter]))
  const wanted = runs.filter(run => summaryOf(run).chunks > 0 && !byKey.has(keyOf(run)))
  const section = sections.filter.number
  const found = await reads.find(wanted.map(({ number }) => ({ run: number, section, key: nothing })))
  for (const [i, run] of wanted.entries()) {
    const position = { run: run.number, section, number: 0 }
    const chunk = found[i]
    if (chunk === undefined) throw damagedChunk(position, 'it is missing')
    const { bytes, start, end } = openChunk(chainId, position, chunk.bytes)
    if (checksumOf(bytes) !== summaryOf(run).checksum) throw damagedChunk(position, 'it is of another run')
    byKey.set(keyOf(run), new Filter(bytes.subarray(start, end)))
  }
  return runs.map(run => ({ run, filter: byKey.get(keyOf(run)) }))
}

/** Leaves out the runs whose filters say that no transaction has the account as a party. */
export function mayHave(runs: readonly FilteredRun[], address: Uint8Array): readonly Run[] {
  const left: Run[] = []
  for (const { run, filter } of runs) if (filter?.mayHave(address) ?? true) left.push(run)
  return left
}

function summaryOf(run: Run): SectionSummary {
  return run.sections[sections.filter.number] ?? { rows: 0, chunks: 0, checksum: 0 }
}

function keyOf(run: Run): string {
  return `${run.number} ${summaryOf(run).checksum}`
}
