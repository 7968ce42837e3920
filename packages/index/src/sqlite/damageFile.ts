import { readFileSync, renameSync, rmSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import type { Damage } from '../platform/errors.ts'

/*
 * Readers report damage to the writer through a file next to the index: they must not write into the index, and they may be
 * in other processes than the writer.
 */

/** Appends one line, which other processes cannot tear. */
export async function appendDamage(path: string, damage: Damage): Promise<void> {
  await appendFile(path, `${JSON.stringify(damage)}\n`)
}

/** Takes what was reported since the last call. The rename keeps lines that come meanwhile. */
export function takeDamageFile(path: string): readonly Damage[] {
  const taken = `${path}.taken`
  try {
    renameSync(path, taken)
  } catch {
    return []
  }
  const lines = readFileSync(taken, 'utf8').split('\n')
  rmSync(taken)
  return lines.flatMap(readLine)
}

/** A line that a crash cut is left out: the damage will be met again. */
function readLine(line: string): readonly Damage[] {
  try {
    return [JSON.parse(line) as Damage]
  } catch {
    return []
  }
}
