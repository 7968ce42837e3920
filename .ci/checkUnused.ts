/**
 * Says which files, exports and dependencies nothing uses, and what of the server's sources only tests use. `knownUnused.json`
 * lists those that still stand; it only gets shorter.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
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

const found = new Set([...findUnused(), ...findUnused('--production', '--workspace', 'packages/server')])
const known = JSON.parse(readFileSync(new URL('knownUnused.json', import.meta.url), 'utf8')) as string[]

const problems = [
  ...[...found].filter(name => !known.includes(name)).map(name => `nothing uses ${name}, or tests only`),
  ...known.filter(name => !found.has(name)).map(name => `to be taken out of .ci/knownUnused.json: ${name}`)
]
for (const problem of problems.sort()) process.stdout.write(`${problem}\n`)
process.exitCode = problems.length === 0 ? 0 : 1
