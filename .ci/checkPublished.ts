/**
 * Looks at each published package the way a stranger's tools will: packs it, then runs publint and
 * are-the-types-wrong over the tarball. Needs `npm run build` first.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Packages with a CommonJS build; the others are ESM only, which attw must not take for a mistake. */
const published = [
  { name: 'protocol', profile: 'node16' },
  { name: 'client', profile: 'node16' },
  { name: 'server', profile: 'esm-only' },
  { name: 'devnet', profile: 'esm-only' },
  { name: 'conformance', profile: 'esm-only' }
]

function run(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`)
}

const folder = mkdtempSync(join(tmpdir(), 'chain-data-published-'))
try {
  for (const { name, profile } of published) {
    const target = join(folder, name)
    run('mkdir', [target])
    run('npm', ['pack', '--silent', '-w', `packages/${name}`, '--pack-destination', target])
    const tarball = join(target, readdirSync(target)[0] ?? '')
    run('publint', ['--strict', tarball])
    run('attw', ['--profile', profile, '--no-emoji', '--no-color', tarball])
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
