import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A file system in memory; only Linux has one there. */
const inMemory = '/dev/shm'
const gib = 2 ** 30
/** A run of all tests keeps less than a quarter of it at any time. */
const roomBytes = 4 * gib

/**
 * Makes the folder for the temporary files of a run in memory, where indexes and databases are written without a wait
 * for a disk. It is removed when this process ends.
 *
 * @returns `undefined` where memory has not enough room, or programs may not be run from it: then files are where the
 *   system has them.
 */
export function makeMemoryFolder(): string | undefined {
  if (!existsSync(inMemory) || process.availableMemory() < 2 * roomBytes) return undefined
  const { bavail, bsize } = statfsSync(inMemory)
  if (bavail * bsize < roomBytes) return undefined
  const folder = mkdtempSync(join(inMemory, 'chain-data-tests-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  // As the system's own: where the tests run as root, PostgreSQL runs as another user, and removes its folder.
  chmodSync(folder, 0o1777)
  return mayRunPrograms(folder) ? folder : undefined
}

function mayRunPrograms(folder: string): boolean {
  const program = join(folder, 'program')
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 })
  try {
    execFileSync(program)
    return true
  } catch {
    return false
  } finally {
    rmSync(program)
  }
}
