import { spawnSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** One way of compiling against the packed declarations. */
interface Variant {
  readonly title: string
  readonly file: string
  /** Copied under this name: the extension decides between ESM and CommonJS. */
  readonly as: string
  readonly options: object
}

const es = ['ES2022']
const dom = ['ES2022', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable']
const nodenext = { module: 'nodenext', moduleResolution: 'nodenext' }
const bundler = { module: 'esnext', moduleResolution: 'bundler' }

const variants: readonly Variant[] = [
  ...[es, dom].flatMap(lib => [
    { title: 'ESM, nodenext', file: 'consumer.ts', as: 'consumer.mts', options: { ...nodenext, lib } },
    { title: 'CommonJS, nodenext', file: 'consumer.ts', as: 'consumer.cts', options: { ...nodenext, lib } },
    { title: 'bundler', file: 'consumer.ts', as: 'consumer.ts', options: { ...bundler, lib } }
  ]),
  {
    title: 'viem and kit, ESM',
    file: 'doorsConsumer.ts',
    as: 'doors.mts',
    options: { ...nodenext, lib: dom }
  },
  {
    title: 'viem and kit, CommonJS',
    file: 'doorsConsumer.ts',
    as: 'doors.cts',
    options: { ...nodenext, lib: dom }
  },
  { title: 'queries, ESM', file: 'queryConsumer.ts', as: 'query.mts', options: { ...nodenext, lib: dom } },
  { title: 'queries, bundler', file: 'queryConsumer.ts', as: 'query.ts', options: { ...bundler, lib: dom } },
  { title: 'msw, ESM, nodenext', file: 'mswConsumer.ts', as: 'msw.mts', options: { ...nodenext, lib: dom } },
  { title: 'msw, bundler', file: 'mswConsumer.ts', as: 'msw.ts', options: { ...bundler, lib: dom } }
]

/**
 * Compiles a stranger's files against the packed client: every declaration is looked into (`skipLibCheck` is off), and
 * no types of Node or the DOM are there unless the variant says so.
 *
 * @param project - A folder with the packed client installed.
 * @param fixtures - The folder of the files.
 * @throws A variant does not compile; the message holds what the compiler said.
 */
export function checkPackedTypes(project: string, fixtures: string): void {
  const compiler = createRequire(import.meta.url).resolve('typescript/lib/tsc.js')
  for (const { title, file, as, options } of variants) {
    copyFileSync(join(fixtures, file), join(project, as))
    const tsconfig = {
      compilerOptions: {
        target: 'ES2022',
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        types: [],
        ...options
      },
      files: [as]
    }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(tsconfig))
    const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.json'], {
      cwd: project,
      encoding: 'utf8'
    })
    if (status !== 0) throw new Error(`${title}, ${JSON.stringify(options)} does not compile:\n${stdout}`)
  }
}
