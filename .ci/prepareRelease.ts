/**
 * Makes the packages ready to be packed for a release: each gets author, homepage, repository and the address for bugs from the
 * package.json of the repository, and the links of its README that leave the package lead to the homepage instead.
 *
 * Refuses while one of these is still a placeholder. The changed files are packed and not committed.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const facts = ['author', 'homepage', 'repository', 'bugs'] as const

type Manifest = Record<string, unknown>

/** Addresses that nobody can own (RFC 2606), which is what stands in place of the real ones. */
const placeholder = /\.(example|invalid|test)\b|\blocalhost\b/

/** Names each fact that is missing or a placeholder, with its value. */
export function placeholdersOf(manifest: Manifest): string[] {
  return facts.flatMap(name => {
    const value = manifest[name]
    const text = JSON.stringify(value)
    if (value === undefined) return [`package.json has no "${name}"`]
    return placeholder.test(text) ? [`"${name}" of package.json is a placeholder: ${text}`] : []
  })
}

/** The manifest of a package with the facts of the repository. */
export function withFacts(manifest: Manifest, repository: Manifest, directory: string): Manifest {
  const { author, homepage, repository: source, bugs } = repository
  return { ...manifest, author, homepage, repository: { ...(source as object), directory }, bugs }
}

/**
 * A README whose links to guides lead to the documentation at `homepage`.
 *
 * @throws A link leads to a file that is neither a guide nor part of the package.
 */
export function withHomepage(text: string, directory: string, homepage: string): string {
  return text.replace(/\]\(([^()\s:#]+)(#[^()\s]*)?\)/g, (_, path: string, fragment = '') => {
    const target = posix.join(directory, path)
    const [, guide] = /^docs\/(.+)\.md$/.exec(target) ?? []
    if (guide === undefined) {
      throw new Error(`${directory}/README.md links to ${path}, which is not in the package and not a guide.`)
    }
    return `](${homepage.replace(/\/$/, '')}/documents/${guide}.html${fragment})`
  })
}

function prepare(): void {
  const repository = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const problems = placeholdersOf(repository)
  if (problems.length > 0) throw new Error(`Not ready to be released:\n${problems.join('\n')}`)
  for (const name of readdirSync(join(root, 'packages'))) {
    const directory = `packages/${name}`
    const path = join(root, directory, 'package.json')
    const readme = join(root, directory, 'README.md')
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest
    if (manifest.private === true || !existsSync(readme)) continue
    writeFileSync(path, `${JSON.stringify(withFacts(manifest, repository, directory), undefined, 2)}\n`)
    const text = readFileSync(readme, 'utf8')
    writeFileSync(readme, withHomepage(text, directory, String(repository.homepage)))
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) prepare()
