import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const maxPackages = 35
const maxMegabytes = 30
/** What a disk gives out at once. */
const blockBytes = 4_096

/**
 * Checks that an installation of the server is small.
 *
 * @param folder - A project in which npm has installed nothing but the server.
 * @returns The number of packages and their size, for a person to read.
 * @throws The packages are too many, or too large together.
 */
export function checkPackedWeight(folder: string): string {
  const modules = join(folder, 'node_modules')
  const lock = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, unknown>>
  }
  const packages = Object.keys(lock.packages).length
  const bytes = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .map(file => lstatSync(join(modules, file)))
    .reduce((sum, file) => sum + Math.ceil(file.size / blockBytes) * blockBytes, 0)
  const weight = `${packages} packages, ${(bytes / 1e6).toFixed(1)} MB`
  if (packages > maxPackages || bytes > maxMegabytes * 1e6) {
    throw new Error(`the installed server is ${weight}; at most ${maxPackages} and ${maxMegabytes} MB`)
  }
  return weight
}
