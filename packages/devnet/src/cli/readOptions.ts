import { readFileSync } from 'node:fs'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { packageFile } from '../packageFile.ts'

/** A chain to serve instead of the devnet. */
export interface RemoteChain {
  chainId: number
  rpcUrls: string[]
}

/** What was asked for on the command line and in the environment. */
export interface CliOptions {
  /** Exit after printing. */
  once: boolean
  /** Port of the service; absent: 8080, or a free one while that is taken. */
  port?: number
  /** Port of the EVM node; absent: a free one. */
  evmPort?: number
  seed: number
  /** From CHAIN_DATA_EVM_<chainId>; empty means the devnet. */
  remoteChains: RemoteChain[]
  /** Whose data to show on a remote chain. */
  address?: string
  /** First block to index on a remote chain. */
  startBlock?: number
  projectId: string
  serverKey: string
}

/** Nothing to run: help or version was printed, or the options make no sense. */
export interface CliEnd {
  exitCode: number
}

/** Where help and complaints go. */
export interface CliOutput {
  out(text: string): void
  err(text: string): void
}

/**
 * Reads the command line and the environment.
 *
 * @param args - Without the interpreter and the script.
 * @returns Options, or with which code to end: 0 after help and version, 2 for bad options.
 */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  output: CliOutput
): CliOptions | CliEnd {
  const program = new Command('chain-data-devnet')
    .description(
      'Starts an EVM node and a Solana node with known contents and the chain-data service over them, shows what ' +
        'its three methods answer, and stays up.\nWith CHAIN_DATA_EVM_<chainId>=<url>[,<url>] in the environment ' +
        'it serves that chain instead and keeps its index in ./chain-data.'
    )
    .version(version(), '--version')
    .helpOption('--help', 'show this help')
    .option('--once', 'exit after printing', false)
    .option('--port <port>', 'port of the service (default: 8080, or a free one while that is taken)', port)
    .option(
      '--evm-port <port>',
      'port of the EVM node (default: 8545, or a free one while that is taken)',
      port
    )
    .option('--seed <number>', 'varies what the nodes hold', integer, 1)
    .option('--address <address>', 'account to show of a chain given by CHAIN_DATA_EVM_<chainId>', evmAddress)
    .option(
      '--start-block <number>',
      'first block to index of such a chain (default: the newest 1000)',
      integer
    )
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ writeOut: text => output.out(text), writeErr: text => output.err(text) })
  try {
    program.parse(args, { from: 'user' })
    const [projectId, serverKey] = project(env.CHAIN_DATA_PROJECT)
    const options = program.opts<Pick<CliOptions, 'once' | 'seed'>>()
    const chains = remoteChains(env)
    const useless = (chains.length > 0 ? devnetOnly : remoteOnly).find(
      name => program.getOptionValueSource(name) === 'cli'
    )
    if (useless !== undefined) {
      const flag = program.options.find(option => option.attributeName() === useless)?.long
      throw new InvalidArgumentError(`${flag} is for ${chains.length > 0 ? 'the devnet' : remote}`)
    }
    return { ...options, remoteChains: chains, projectId, serverKey }
  } catch (error) {
    // Ours; complaints about options were printed by the parser, which wraps them.
    if (error instanceof InvalidArgumentError) output.err(`error: ${error.message}\n`)
    else if (!(error instanceof CommanderError)) throw error
    return { exitCode: (error as CommanderError).exitCode === 0 ? 0 : 2 }
  }
}

/** Options that change nothing where a chain is given from outside, and where none is. */
const devnetOnly = ['evmPort', 'seed']
const remoteOnly = ['address', 'startBlock']
const remote = 'a chain given by CHAIN_DATA_EVM_<chainId>, and there is none in the environment'

function version(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
}

function integer(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('expected a whole number from 0')
  return Number(text)
}

function port(text: string): number {
  const value = integer(text)
  if (value > 65_535) throw new InvalidArgumentError('expected a port from 0 to 65535')
  return value
}

const remotePrefix = 'CHAIN_DATA_EVM_'

function evmAddress(text: string): string {
  if (!/^0x[0-9a-f]{40}$/i.test(text)) throw new InvalidArgumentError('expected 0x and 40 hex digits')
  return text
}

function remoteChains(env: Readonly<Record<string, string | undefined>>): RemoteChain[] {
  const chains: RemoteChain[] = []
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(remotePrefix) || value === undefined || value === '') continue
    const id = name.slice(remotePrefix.length)
    if (!/^\d{1,15}$/.test(id)) {
      throw new InvalidArgumentError(`${name}: expected a chain id in digits after ${remotePrefix}`)
    }
    const rpcUrls = value.split(',').map(url => url.trim())
    // The value may hold an access key: it is not repeated.
    if (!rpcUrls.every(url => /^https?:/i.test(url) && URL.canParse(url))) {
      throw new InvalidArgumentError(`${name} holds something other than http:// or https:// URLs`)
    }
    chains.push({ chainId: Number(id), rpcUrls })
  }
  return chains
}

function project(value = 'demo:demo-server-key'): [projectId: string, serverKey: string] {
  const colon = value.indexOf(':')
  if (colon < 1 || colon === value.length - 1) {
    throw new InvalidArgumentError('CHAIN_DATA_PROJECT is expected as <project id>:<server key>')
  }
  return [value.slice(0, colon), value.slice(colon + 1)]
}
