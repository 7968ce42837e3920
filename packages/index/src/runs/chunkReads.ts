import { type ChunkPosition, damagedChunk, type OpenChunk, openChunk } from './chunk.ts'
import { compareKeys } from './keys.ts'
import type { Run } from './run.ts'
import type { Section } from './sections.ts'

/** A search for the chunk that would hold a key. */
interface ChunkSearch {
  readonly run: number
  readonly section: number
  readonly key: Uint8Array
}

/** A chunk as an engine finds it. */
export interface FoundChunk {
  readonly number: number
  readonly bytes: Uint8Array
}

/** An engine's part of reading runs, in one transaction. */
export interface ChunkReads {
  /** Number of searches that are best asked at once: in the first question of a read, and in each later one. */
  readonly searchesAtOnce: readonly [first: number, later: number]
  /**
   * Finds chunks by key: for each search the one with the greatest lower bound that does not sort after the key; absent where there
   * is none.
   */
  find(searches: readonly ChunkSearch[]): Promise<readonly (FoundChunk | undefined)[]>
  /** Reads the next chunks of a section in order: those whose lower bound sorts not before `from`. */
  scan(run: number, section: number, from: Uint8Array, limit: number): Promise<readonly FoundChunk[]>
}

/**
 * Finds for each key the chunk that holds it in a section of its run, or would hold it.
 * @throws {IndexDamagedError} that chunk is missing or altered.
 */
export async function findChunks(
  reads: ChunkReads,
  chainId: number,
  section: Section,
  wanted: readonly { readonly run: Run; readonly key: Uint8Array }[]
): Promise<readonly (OpenChunk | undefined)[]> {
  const searched = wanted.filter(({ run }) => (run.sections[section.number]?.chunks ?? 0) > 0)
  const found = await reads.find(
    searched.map(({ run, key }) => ({ run: run.number, section: section.number, key }))
  )
  let at = 0
  return wanted.map(each => {
    if (each !== searched[at]) return undefined
    const chunk = found[at++]
    return checkFound(chainId, section, each.run, each.key, chunk)
  })
}

function checkFound(
  chainId: number,
  section: Section,
  run: Run,
  key: Uint8Array,
  found: FoundChunk | undefined
): OpenChunk {
  const position: ChunkPosition = { run: run.number, section: section.number, number: found?.number ?? 0 }
  if (found === undefined) throw damagedChunk(position, 'it is missing')
  const chunk = openChunk(chainId, position, found.bytes)
  if (compareKeys(chunk.lower, key) > 0) throw damagedChunk(position, 'it was found under another key')
  if (chunk.upper.length > 0 && compareKeys(chunk.upper, key) <= 0) {
    throw damagedChunk({ ...position, number: position.number + 1 }, 'it is missing')
  }
  return chunk
}
