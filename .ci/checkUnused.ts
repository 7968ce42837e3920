/** Names files, exports and dependencies that nothing uses, and sources of server and index that only tests use. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

type Named = readonly { readonly name: string }[]

interface Report {
  /** One for each file; beside `file` a list for each kind of finding. */
  readonly issues: readonly (Readonly<Record<string, Named>> & { readonly file: string })[]
}

/** Findings as `file: name`. */
function findUnused(...more: readonly string[]): string[] {
  const words = [
    '--config',
    '.config/knip.jsonc',
    '--no-progress',
    '--no-exit-code',
    '--reporter',
    'json',
    ...more
  ]
  const output = execFileSync('knip', words, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  return (JSON.parse(output) as Report).issues.flatMap(({ file, ...kinds }) =>
    Object.values(kinds).flatMap(findings =>
      findings.map(({ name }) => (name === file ? file : `${file}: ${name}`))
    )
  )
}

const inProduction = ['packages/index', 'packages/server'].flatMap(name => ['--workspace', name])
// Entries of the package for tests.
const isForTests = (name: string) => name.startsWith('packages/index/test/')
const found = new Set([
  ...findUnused(),
  ...findUnused('--production', ...inProduction).filter(name => !isForTests(name))
])
for (const name of [...found].sort()) process.stdout.write(`nothing uses ${name}, or tests only\n`)
process.exitCode = found.size === 0 ? 0 : 1
