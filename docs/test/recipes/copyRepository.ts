import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const run = promisify(execFile)

/** A copy of the repository's sources that a recipe may change. */
export interface Copy {
  /** Replaces a text that stands exactly once in a file. */
  edit(file: string, text: string, replacement: string): Promise<void>
  editDocument(change: (document: SpecDocument) => void): Promise<void>
  /** Runs `npm run codegen` and returns the paths of the files it wrote. */
  generate(): Promise<string[]>
  /** Runs a module against the copy and returns what it printed as JSON. */
  evaluate(source: string): Promise<unknown>
  /** Runs one test file of the copy. Returns its output; `failed` where a test failed. */
  test(file: string): Promise<{ failed: boolean; output: string }>
  remove(): Promise<void>
}

/** The parts of the OpenRPC document that recipes change. */
interface SpecDocument {
  readonly methods: { name: string; [member: string]: unknown }[]
  readonly components: {
    readonly schemas: Record<string, { properties: Record<string, object> }>
    readonly examplePairings: Record<string, object>
    readonly errors: Record<string, object>
  }
  readonly 'x-errors': Record<string, object>
}

/** Copies packages, specification, pages and settings; installed packages are linked, ours to the copy. */
export async function copyRepository(): Promise<Copy> {
  const root = await mkdtemp(join(await realpath(tmpdir()), 'recipe-'))
  const { stdout } = await run('git', ['ls-files', 'packages', 'spec', 'docs', '.config', '*.json'], {
    cwd: repository,
    maxBuffer: 64 * 1024 * 1024
  })
  for (const file of stdout.trim().split('\n')) await cp(join(repository, file), join(root, file))
  await linkPackages('node_modules')
  for (const name of await readdir(join(repository, 'packages')))
    await linkPackages(`packages/${name}/node_modules`)
  const options = { cwd: root, maxBuffer: 64 * 1024 * 1024 }
  const node = (...args: string[]) =>
    run(process.execPath, ['--conditions=@chain-data/source', ...args], options)
  const read = (file: string) => readFile(join(root, file), 'utf8')

  async function linkPackages(folder: string): Promise<void> {
    const names: string[] = await readdir(join(repository, folder)).catch(() => [])
    await mkdir(join(root, folder), { recursive: true })
    for (const name of names.filter(each => each !== '@chain-data'))
      await symlink(join(repository, folder, name), join(root, folder, name))
    if (!names.includes('@chain-data')) return
    await mkdir(join(root, folder, '@chain-data'))
    for (const name of await readdir(join(repository, 'packages')))
      await symlink(join(root, 'packages', name), join(root, folder, '@chain-data', name))
  }

  return {
    async edit(file, text, replacement) {
      const parts = (await read(file)).split(text)
      if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${text}`)
      await writeFile(join(root, file), parts.join(replacement))
    },
    async editDocument(change) {
      const document = JSON.parse(await read('spec/openrpc.json')) as SpecDocument
      change(document)
      await writeFile(join(root, 'spec/openrpc.json'), JSON.stringify(document, null, 2))
    },
    async generate() {
      const { stdout } = await node('packages/codegen/src/main.ts').catch(
        (error: { stdout: string; stderr: string }) => {
          throw new Error(error.stdout + error.stderr)
        }
      )
      return stdout
        .trim()
        .split('\n')
        .map(line => line.replace(/ written$/, ''))
    },
    async evaluate(source) {
      await writeFile(join(root, 'evaluated.ts'), source)
      return JSON.parse((await node('evaluated.ts')).stdout) as unknown
    },
    async test(file) {
      const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', '.config/vitest.config.ts', file]
      return run(process.execPath, args, options).then(
        ({ stdout }) => ({ failed: false, output: stdout }),
        (error: { stdout: string }) => ({ failed: true, output: error.stdout })
      )
    },
    remove: () => rm(root, { recursive: true, force: true })
  }
}
