import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { Script } from 'node:vm'
import { readOptions as readConformanceOptions } from '../../packages/conformance/src/cli/readOptions.ts'
import { readOptions as readDevnetOptions } from '../../packages/devnet/src/cli/readOptions.ts'
import { createProgram } from '../../packages/server/src/server/cli/createProgram.ts'
import { unknownVariables } from '../../packages/server/src/server/config/environment.ts'
import { type Block, type Problem, placeOf, repository } from './readBlocks.ts'
import { readCommands, type ShellCommand } from './readCommands.ts'

/** Looks at every command of a block without running it: what it names exists, and its flags are taken. */
export function checkShell(block: Block): Problem[] {
  let commands: ShellCommand[]
  try {
    commands = readCommands(block.code)
  } catch (error) {
    return [{ at: placeOf(block), message: (error as Error).message }]
  }
  return commands.flatMap(command => {
    const message = variableProblem(command) ?? commandProblem(command, block.page)
    return message === undefined ? [] : [{ at: placeOf(block, command.line), message }]
  })
}

/** Programs that everybody has, and whose arguments say nothing of this project. */
const plainPrograms = new Set(['cd', 'export', 'git', 'mkdir'])

function commandProblem(command: ShellCommand, page: string): string | undefined {
  const [program, ...args] = command.words
  if (program === undefined || plainPrograms.has(program)) return undefined
  if (program === 'npm') return npmProblem(args, command, page)
  if (program === 'npx') return binaryProblem(args.slice(/^(-y|--yes)$/.test(args[0] ?? '') ? 1 : 0), command)
  if (program === 'curl') return args.some(arg => URL.canParse(arg)) ? undefined : 'has no address'
  if (program === 'node') return nodeProblem(args)
  return binaryProblem(command.words, command)
}

interface PackageFile {
  readonly name: string
  readonly scripts?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
}

const readPackage = (folder: string): PackageFile =>
  JSON.parse(readFileSync(`${repository}/${folder}/package.json`, 'utf8'))

/** Whether the package that a page lies in names this dependency: an example outside of the workspaces has its own. */
function dependsOn(page: string, name: string): boolean {
  const folder = dirname(page)
  if (!existsSync(`${repository}/${folder}/package.json`)) return false
  return Object.hasOwn(readPackage(folder).dependencies ?? {}, name)
}

function npmProblem(args: readonly string[], command: ShellCommand, page: string): string | undefined {
  const dashes = args.indexOf('--')
  const own = dashes < 0 ? [...args] : args.slice(0, dashes)
  const passed = dashes < 0 ? [] : args.slice(dashes + 1)
  const flag = own.findIndex(arg => arg === '-w' || arg === '--workspace' || arg === '--prefix')
  const [, workspace = '.'] = flag < 0 ? [] : own.splice(flag, 2)
  const isName = existsSync(`${repository}/node_modules/${workspace}/package.json`)
  const folder = isName ? `node_modules/${workspace}` : workspace
  if (!existsSync(`${repository}/${folder}/package.json`)) return `there is no package in ${folder}`
  const [subcommand = '', ...rest] = own.filter(arg => !arg.startsWith('-'))
  if (['audit', 'ci', 'pack'].includes(subcommand)) return undefined
  if (subcommand === 'install') {
    const missing = rest.find(
      name => !existsSync(`${repository}/node_modules/${name}/package.json`) && !dependsOn(page, name)
    )
    return missing === undefined ? undefined : `the project knows no package ${missing}`
  }
  const script = subcommand === 'run' ? rest[0] : subcommand
  if (script === undefined || !Object.hasOwn(readPackage(folder).scripts ?? {}, script)) {
    return `${folder}/package.json has no script ${script}`
  }
  if (folder !== '.') return undefined
  const binary = rootScripts[script]
  return binary === undefined ? pathProblem(passed) : binaryProblem([binary, ...passed], command)
}

/** Scripts of the repository that hand their arguments to a program of this project. */
const rootScripts: Readonly<Record<string, string>> = {
  start: 'chain-data-devnet',
  'chain-data': 'chain-data'
}

/** Programs of this project by the names that they are called by, each with the one that reads its arguments. */
const binaries: Record<string, (args: readonly string[], command: ShellCommand) => string | undefined> = {
  'chain-data': serverProblem,
  'chain-data-devnet': devnetProblem,
  '@chain-data/devnet': devnetProblem,
  '@chain-data/conformance': (args, { environment }) => {
    const read = readConformanceOptions(args, environment)
    return read.kind === 'wrong' ? read.message : undefined
  }
}

function binaryProblem([name = '', ...args]: readonly string[], command: ShellCommand): string | undefined {
  if (Object.hasOwn(binaries, name)) return binaries[name]!(args, command)
  if (!existsSync(`${repository}/node_modules/.bin/${name}`)) return `no program ${name} is known here`
  return pathProblem(args)
}

function nodeProblem(args: readonly string[]): string | undefined {
  const evaluated = args.findIndex(arg => arg === '-e' || arg === '--eval')
  if (evaluated < 0) return pathProblem(args)
  try {
    new Script(args[evaluated + 1] ?? '')
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** What looks like the path of a file is one, unless it is a pattern. */
function pathProblem(args: readonly string[]): string | undefined {
  const paths = args.filter(arg => !arg.startsWith('-') && arg.includes('/') && !arg.includes('*'))
  const missing = paths.find(path => !existsSync(`${repository}/${path}`))
  return missing === undefined ? undefined : `there is no file ${missing}`
}

function devnetProblem(args: readonly string[], { environment }: ShellCommand): string | undefined {
  let complaint = ''
  const read = readDevnetOptions(args, environment, {
    out: () => undefined,
    err: text => {
      complaint += text
    }
  })
  return 'exitCode' in read && read.exitCode !== 0 ? complaint : undefined
}

function serverProblem(args: readonly string[]): string | undefined {
  const program = createProgram()
  for (const command of allCommands(program)) {
    // The error is told by what is thrown.
    command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined })
    if (command.commands.length === 0) command.action(() => undefined)
  }
  try {
    program.parse(args, { from: 'user' })
    return undefined
  } catch (error) {
    const { exitCode, message } = error as { exitCode: number; message: string }
    return exitCode === 0 ? undefined : message
  }
}

type Program = ReturnType<typeof createProgram>

function allCommands(command: Program): readonly Program[] {
  return [command, ...command.commands.flatMap(allCommands)]
}

function variableProblem({ environment }: ShellCommand): string | undefined {
  const unknown = Object.keys(environment).find(
    name => /^(VITE_)?CHAIN_DATA_/.test(name) && !isServerVariable(name) && !namesInSources().has(name)
  )
  return unknown === undefined ? undefined : `nothing reads the variable ${unknown}`
}

const isServerVariable = (name: string) =>
  name.startsWith('CHAIN_DATA_') && unknownVariables({ [name]: 'set' }).length === 0

let found: ReadonlySet<string> | undefined

/** What packages and examples read of their environment. */
function namesInSources(): ReadonlySet<string> {
  found ??= new Set(
    globSync(['packages/*/{src,bench}/**/*.ts', 'examples/*/{*,{src,app}/**/*}.{ts,tsx}'], {
      cwd: repository,
      exclude: ['**/*.test.ts']
    })
      .map(file => readFileSync(`${repository}/${file}`, 'utf8'))
      .flatMap(text => text.match(/\b(VITE_)?CHAIN_DATA_[A-Z_]+/g) ?? [])
  )
  return found
}
