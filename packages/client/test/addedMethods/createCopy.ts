import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCodegen } from '../../../codegen/src/runCodegen.ts'
import { addedMethods, addedSchemas } from './addedMethods.ts'

/** The folder of this repository. */
export const repository = fileURLToPath(new URL('../../../..', import.meta.url))

/** A copy of the specification, the protocol and the client with methods added to the document, and codegen run. */
export interface Copy extends AsyncDisposable {
  readonly folder: string
  /** Runs an installed program, such as `typescript/lib/tsc.js`, in the copy. */
  readonly run: (program: string, args: readonly string[]) => { passed: boolean; printed: string }
}

/** Copies what is needed, adds the methods to the document alone, and runs codegen. */
export async function createCopy(): Promise<Copy> {
  const folder = await mkdtemp(join(tmpdir(), 'chain-data-copy-'))
  const parts = ['src', 'test', 'package.json', 'tsconfig.json']
  const packages = ['client', 'protocol'].flatMap(name => parts.map(part => `packages/${name}/${part}`))
  for (const path of ['spec', 'docs/errors.md', 'tsconfig.base.json', ...packages]) {
    if (path === 'packages/protocol/test') continue
    await cp(join(repository, path), join(folder, path), { recursive: true })
  }
  await linkModules(folder)
  const path = join(folder, 'spec/openrpc.json')
  const document = JSON.parse(await readFile(path, 'utf8'))
  document.methods.push(...addedMethods)
  Object.assign(document.components.schemas, addedSchemas)
  await writeFile(path, JSON.stringify(document))
  const lines: string[] = []
  const code = await runCodegen(folder, [], line => lines.push(line))
  if (code !== 0) throw new Error(lines.join('\n'))
  return {
    folder,
    run(program, args) {
      const path = join(repository, 'node_modules', program)
      const options = { cwd: folder, encoding: 'utf8' } as const
      const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], options)
      return { passed: status === 0, printed: stdout + stderr }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true })
  }
}

/** Installed packages are those of the repository; its own are those of the copy. */
async function linkModules(folder: string): Promise<void> {
  const own = '@chain-data'
  await mkdir(join(folder, 'node_modules', own), { recursive: true })
  for (const name of await readdir(join(repository, 'node_modules'))) {
    if (name === own || name === '.cache') continue
    await symlink(join(repository, 'node_modules', name), join(folder, 'node_modules', name))
  }
  for (const name of ['client', 'protocol']) {
    await symlink(join(folder, 'packages', name), join(folder, 'node_modules', own, name))
  }
}
