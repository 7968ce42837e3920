import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { checkSuccess } from '@chain-data/protocol/validators'
import { patient } from '../../.config/patience.ts'
import { type Block, type Problem, placeOf, repository } from './readBlocks.ts'
import { readCommands, type ShellCommand } from './readCommands.ts'
import { type Addresses, withAddresses } from './withAddresses.ts'

const serviceUrl = 'http://127.0.0.1:8080'
const nodeUrl = 'http://127.0.0.1:8545'

/** Programs of this project that ask a service and end, by the names that they are called by. */
const sources: Readonly<Record<string, string>> = {
  'chain-data': fileURLToPath(import.meta.resolve('../../packages/server/src/server/cli/main.ts')),
  '@chain-data/conformance': fileURLToPath(import.meta.resolve('../../packages/conformance/src/cli/main.ts'))
}

/** What a run says of one command. */
export interface CommandRun {
  readonly output: string
  readonly problem?: Problem
}

/** The commands of a block that ask the service, or its EVM node. */
export function commandsToRun({ code }: Block): ShellCommand[] {
  const commands = readCommands(code).map(command => ({ ...command, words: withService(command.words) }))
  return commands.filter(({ words }) =>
    words.some(word => word.includes(serviceUrl) || word.includes(nodeUrl))
  )
}

/** Examples that ask the usual address unless another one is given are given it. */
function withService(words: readonly string[]): readonly string[] {
  const [, folder] = /^npm start -w (examples\/[\w-]+)$/.exec(words.join(' ')) ?? []
  const program = `${repository}/${folder}/main.ts`
  if (folder === undefined || !existsSync(program)) return words
  const source = readFileSync(program, 'utf8')
  return source.includes(serviceUrl) && source.includes('process.argv') ? [...words, '--', serviceUrl] : words
}

/** Why commands of curl cannot be run here; `undefined` where they can. */
export function curlMissingReason(): string | undefined {
  return spawnSync('curl', ['--version']).error === undefined ? undefined : 'there is no curl on this machine'
}

/** Runs a command as it stands, without a shell, from the folder of the repository; one that writes files, from one of its own. */
export async function runCommand(
  block: Block,
  { words, environment, line }: ShellCommand,
  addresses: Addresses
): Promise<CommandRun> {
  const [program = '', ...args] = withSource(words.map(word => withAddresses(word, addresses)))
  const folder = words.includes('init') ? await mkdtemp(join(tmpdir(), 'chain-data-docs-')) : undefined
  const child = spawn(program, args, {
    cwd: folder ?? repository,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      NODE_NO_WARNINGS: '1',
      npm_config_loglevel: 'silent',
      ...environment
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: patient(100_000)
  })
  const ended = once(child, 'close').then(
    ([code, signal]) => `ended with ${signal ?? code}`,
    (error: Error) => error.message
  )
  // A stream has no end: it ends here with its first event.
  const isStream = program === 'curl' && args.includes('-N')
  if (isStream) child.stdout.on('data', chunk => String(chunk).includes('data:') && child.kill('SIGINT'))
  const [output, complaint, end] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (folder !== undefined) await rm(folder, { recursive: true })
  const isEnd = end === (isStream ? 'ended with SIGINT' : 'ended with 0')
  const message = !isEnd ? `${end}: ${complaint}${output}` : answerProblem(program, output)
  return { output, ...(message === undefined ? {} : { problem: { at: placeOf(block, line), message } }) }
}

function withSource(words: readonly string[]): readonly string[] {
  const [program = '', ...args] = words[0] === 'npx' ? words.slice(1) : words
  const source = sources[program]
  if (source !== undefined) return [process.execPath, '--conditions=@chain-data/source', source, ...args]
  return program === 'curl' ? [program, '--fail', '--show-error', ...args] : words
}

/** Answers of the endpoints are results; other addresses of a service answer what they like. */
function answerProblem(program: string, output: string): string | undefined {
  if (program !== 'curl' || !output.includes('"jsonrpc"')) return undefined
  const mistake = checkSuccess(JSON.parse(output))
  return mistake && `${mistake.path} ${mistake.message}: ${output.slice(0, 500)}`
}
