import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const project = fileURLToPath(new URL('ponder', import.meta.url))

/**
 * The folder of the Ponder project with everything it needs; installed by the first call and kept for later ones.
 * @returns `version`: of Ponder.
 * @throws {Error} it cannot be installed.
 * @remarks Below `node_modules/.cache`, and without install scripts. 180 MB.
 */
export async function preparePonder(
  print: (line: string) => void
): Promise<{ readonly folder: string; readonly version: string }> {
  const lock = readFileSync(`${project}/package-lock.json`)
  const name = `chain-data-bench-ponder-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`
  const folder = fileURLToPath(new URL(`../../../../node_modules/.cache/${name}`, import.meta.url))
  if (!existsSync(folder)) {
    print('  installing Ponder, once')
    const unfinished = `${folder}.${process.pid}`
    cpSync(project, unfinished, { recursive: true })
    try {
      const words = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
      await promisify(execFile)('npm', words, { cwd: unfinished })
      // Under its name only once it is whole.
      renameSync(unfinished, folder)
    } finally {
      rmSync(unfinished, { recursive: true, force: true })
    }
  }
  // The project may have changed since, what it needs has not.
  cpSync(project, folder, { recursive: true })
  const manifest = JSON.parse(readFileSync(`${folder}/node_modules/ponder/package.json`, 'utf8')) as {
    readonly version: string
  }
  return { folder, version: manifest.version }
}
