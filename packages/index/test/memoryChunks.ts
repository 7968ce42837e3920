import type { Chunk } from '../src/runs/chunk.ts'
import type { ChunkReads } from '../src/runs/chunkReads.ts'
import { compareKeys } from '../src/runs/keys.ts'

/** Chunks in memory, found as an engine finds them. */
export interface MemoryChunks extends ChunkReads {
  readonly chunks: Chunk[]
  put(chunk: Chunk): void
}

export function createMemoryChunks(searchesAtOnce: readonly [number, number] = [1, 1]): MemoryChunks {
  const chunks: Chunk[] = []
  const ofSection = (run: number, section: number) =>
    chunks
      .filter(each => each.run === run && each.section === section)
      .sort((a, b) => compareKeys(a.lower, b.lower))
  return {
    chunks,
    searchesAtOnce,
    put: chunk => void chunks.push(chunk),
    find: async searches =>
      searches.map(({ run, section, key }) =>
        ofSection(run, section).findLast(({ lower }) => compareKeys(lower, key) <= 0)
      ),
    scan: async (run, section, from, limit) =>
      ofSection(run, section)
        .filter(({ lower }) => compareKeys(lower, from) >= 0)
        .slice(0, limit)
  }
}
