/**
 * What is to hold before each commit: `npm run check`. The steps run beside each other, as many as there are cores, and
 * each prints when it has ended. Of the types only what changed is checked again.
 *
 * `node .ci/check.ts types` runs the steps whose names begin with that, which is `npm run types`.
 */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const cache = join(root, 'node_modules/.cache/types')
const env = { ...process.env, PATH: join(root, 'node_modules/.bin') + delimiter + process.env.PATH }

interface Step {
  readonly name: string
  /** Looked up in `node_modules/.bin` first. */
  readonly command: readonly string[]
}

/**
 * Most files are in one program, so that sources which several packages import are checked once. On their own: what may
 * not see Node's types, and what runs in a page.
 */
const programs = {
  'types: all but the following': '.config/tsconfig.json',
  'types: examples/portfolio': 'examples/portfolio/tsconfig.json',
  'types: examples/programs': 'examples/programs/tsconfig.json',
  'types: docs/test': 'docs/test/tsconfig.json',
  'types: protocol without Node': 'packages/protocol/tsconfig.json'
}

const infoOf = (config: string) => join(cache, `${config.replaceAll('/', '-')}.tsbuildinfo`)

const lists = ['docs/test/architecture.test.ts', 'docs/test/changesets.test.ts']

/** The longest first. */
const steps: readonly Step[] = [
  ...Object.entries(programs).map(([name, config]) => ({
    name,
    command: ['tsc', '-p', config, '--incremental', '--tsBuildInfoFile', infoOf(config)]
  })),
  { name: 'lint', command: ['biome', 'lint', '.'] },
  { name: 'format', command: ['biome', 'format', '.'] },
  { name: 'what nothing uses', command: ['node', '.ci/checkUnused.ts'] },
  { name: 'generated files', command: ['npm', 'run', '--silent', 'codegen', '--', '--check'] },
  {
    name: 'lists of modules, examples and changesets',
    command: [...'vitest run --config .config/vitest.config.ts'.split(' '), ...lists]
  }
]

/** @returns How it ended and what it printed, in the order of printing. */
function run({ command: [program = '', ...args] }: Step): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return new Promise((done, fail) => {
    child.once('error', fail)
    child.once('close', code => done({ code, output }))
  })
}

async function runAll(chosen: readonly Step[]): Promise<boolean> {
  const waiting = [...chosen]
  let isGood = true
  const worker = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const start = performance.now()
      const { code, output } = await run(step)
      const seconds = ((performance.now() - start) / 1_000).toFixed(1)
      process.stdout.write(`${code === 0 ? 'ok  ' : 'FAIL'} ${step.name} (${seconds} s)\n`)
      if (code === 0) continue
      isGood = false
      process.stdout.write(`${output}\n`)
    }
  }
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker))
  return isGood
}

/** Checked with packages that are not installed here: by `npm run test:next` and `npm run test:packed`. */
const apart = [
  'examples/next-route/',
  'examples/programs/walletPage.tsx',
  'examples/programs/reactNative.tsx'
]

/** TypeScript files that no program has checked. */
function uncheckedFiles(): string[] {
  const checked = new Set(
    Object.values(programs).flatMap(config => {
      const info = infoOf(config)
      const { fileNames } = JSON.parse(readFileSync(info, 'utf8')) as { fileNames: string[] }
      return fileNames.map(file => resolve(dirname(info), file))
    })
  )
  const listed = execFileSync('git', ['ls-files', '--', '*.ts', '*.tsx'], { cwd: root, encoding: 'utf8' })
  const files = listed
    .split('\n')
    .filter(file => file !== '' && !apart.some(path => file.startsWith(path)) && existsSync(join(root, file)))
  return files.filter(file => !checked.has(join(root, file)))
}

const [part = ''] = process.argv.slice(2)
const chosen = steps.filter(({ name }) => name.startsWith(part))
if (chosen.length === 0) process.stdout.write(`FAIL no step begins with "${part}"\n`)
let isGood = chosen.length > 0 && (await runAll(chosen))
if (isGood && 'types'.startsWith(part)) {
  const unchecked = uncheckedFiles()
  if (unchecked.length > 0)
    process.stdout.write(`FAIL no program has these files:\n${unchecked.join('\n')}\n`)
  isGood = unchecked.length === 0
}
process.exitCode = isGood ? 0 : 1
