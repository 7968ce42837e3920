import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildStateWorld, type StateWorld } from './buildStateWorld.ts'

/** Outlives a run of the tests, whose folder for temporary files does not. */
const folder = fileURLToPath(new URL('../../../../../node_modules/.cache/test-worlds', import.meta.url))

/** Opens the world of a length. It is built once and kept, by the hash of the files that build it. */
export async function openStateWorld(blocks: number, seed = 20): Promise<StateWorld> {
  const sources = ['buildStateWorld.ts', 'recordBlocks.ts'].map(name =>
    readFileSync(new URL(name, import.meta.url), 'utf8')
  )
  const key = createHash('sha256').update(sources.join()).update(`${blocks} ${seed}`).digest('hex')
  const kept = join(folder, `${key}.json`)
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'))
  const world = await buildStateWorld(blocks, seed)
  mkdirSync(folder, { recursive: true })
  const unfinished = join(folder, `${key}.${process.pid}`)
  writeFileSync(unfinished, JSON.stringify(world))
  renameSync(unfinished, kept)
  return world
}
