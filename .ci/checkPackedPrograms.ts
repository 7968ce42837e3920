import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const require = createRequire(import.meta.url)
const folders = ['programs', 'msw-testing'].map(name => join(root, 'examples', name))

/** In the version that is installed here. */
const installed = (name: string): string => {
  const manifest = readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')
  return `${name}@${(JSON.parse(manifest) as { version: string }).version}`
}

/** What the small programs import besides the client. wagmi is installed nowhere else. */
export const packagesOfPrograms: readonly string[] = [
  ...[
    '@tanstack/react-query',
    '@types/node',
    '@types/react',
    'msw',
    'react',
    'react-dom',
    'viem',
    'vitest'
  ].map(installed),
  'wagmi@3.7.7'
]

/** Of these only the declarations are taken: their dependencies would be some hundred packages. */
const declarationsOnly = { 'react-native': '0.88.1', '@react-native/virtualized-lists': '0.88.1' }

/**
 * Compiles the small programs of `examples/` as whoever copies them does: against the packed client, as strictly as this
 * repository.
 *
 * @param project - A folder with the packed client and {@link packagesOfPrograms} installed.
 * @throws One does not compile; the message holds what the compiler said.
 */
export function checkPackedPrograms(project: string): void {
  for (const [name, version] of Object.entries(declarationsOnly)) {
    const folder = join(project, 'node_modules', name)
    mkdirSync(folder, { recursive: true })
    const tarball = run('npm', ['pack', '--silent', `${name}@${version}`], folder).trim()
    run('tar', ['xzf', tarball, '--strip-components=1'], folder)
  }
  const programs = join(project, 'programs')
  mkdirSync(programs)
  for (const folder of folders) {
    for (const file of readdirSync(folder)) {
      if (!/^(programs\.test|vitest\.config)\.|\.(json|md)$/.test(file)) {
        cpSync(join(folder, file), join(programs, file))
      }
    }
  }
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.base.json'), 'utf8'))
  const { customConditions: _ours, ...strict } = compilerOptions
  const ofPages = { lib: ['ES2023', 'DOM', 'DOM.Iterable'], jsx: 'react-jsx', types: ['node'] }
  const config = { compilerOptions: { ...strict, ...ofPages, allowJs: true, checkJs: true } }
  writeFileSync(join(programs, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(programs, 'package.json'), '{ "type": "module" }\n')
  run(process.execPath, [require.resolve('typescript/lib/tsc.js'), '-p', programs], project)
}

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}\n${stdout}\n${stderr}`)
  return stdout
}
