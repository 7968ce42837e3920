import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import { Command } from 'commander'
import { ConfigError } from '../../platform/errors.ts'
import { describeConfig } from '../config/config.ts'
import { ProjectEditError } from '../projects/editProjects.ts'
import { check } from './check.ts'
import { init } from './init.ts'
import {
  readAddress,
  readChainId,
  readDuration,
  readLifetime,
  readName,
  readOrigins,
  readPort,
  readProjectId,
  readServerUrl
} from './options.ts'
import { createProject, listProjects, revokeProjectKey, rotateProjectKey } from './projectActions.ts'
import { InitError } from './readTargets.ts'
import { reset } from './reset.ts'
import { serve } from './serve.ts'
import { status } from './status.ts'
import { configErrorExit } from './terminal.ts'
import { verify } from './verify.ts'

const refusedExit = 1
const usageExit = 2
const projectExits =
  'Exit code: 0 when it is done, 1 when it cannot be done, 2 for a wrong configuration or projects file.'

/**
 * The `chain-data` command.
 *
 * @param options.onReadyToClose - called once `serve` answers to signals itself.
 */
export function createProgram(options: { readonly onReadyToClose?: () => void } = {}): Command {
  const program = new Command('chain-data')
    .description('Account history and holdings of EVM chains and Solana over JSON-RPC.')
    .version(packageFile.version)

  program
    .command('init')
    .description('check nodes, write a configuration that fits them and a key, and show the first call')
    .argument(
      '[node...]',
      'URLs of nodes of one chain or several, and names or ids of the chains that are meant'
    )
    .option('-c, --config <file>', 'the configuration to write', 'chain-data.json')
    .option('-p, --project <projectId>', 'the project that gets a key', readProjectId, 'demo')
    .option('--port <port>', 'the port to listen on; default: 8080, or the next free one', readPort)
    .option('-y, --yes', 'ask nothing, take the default of every question')
    .option('--force', 'overwrite the configuration where it is there')
    .option('--start', 'start the server after writing')
    .addHelpText(
      'after',
      `
Examples:
  chain-data init http://127.0.0.1:8545
  chain-data init polygon https://your-polygon-node --yes --start

Exit code: 0 when it is done, 1 when it cannot be done; then nothing is written.`
    )
    .action(reporting(init))

  program
    .command('serve')
    .description('index the configured chains and answer requests')
    .option('-c, --config <file>', 'configuration: a JSON file, or a JavaScript or TypeScript module')
    .addHelpText('after', () => `\n${describeConfig()}`)
    .action((given: { readonly config?: string }) => serve(given, options))

  program
    .command('status')
    .description('show how every chain stands: of the running server, or else from the stores')
    .option('-c, --config <file>', 'the configuration of the server')
    .option('--json', 'print one JSON object instead of a table')
    .option('--watch', 'ask again every two seconds until it is broken off')
    .addHelpText(
      'after',
      '\nExit code: 0 when every chain is followed, 1 when one is not or no server answers, 2 for a wrong configuration.'
    )
    .action(status)

  program
    .command('check')
    .description('look at everything that the configuration names: nodes, store, addresses, gateways, keys')
    .option('-c, --config <file>', 'the configuration of the server')
    .option('--json', 'print one JSON object instead of a table')
    .addHelpText(
      'after',
      '\nNothing is written. Exit code: 0 when all is well, warnings allowed; 1 when something failed; 2 for a wrong configuration.'
    )
    .action(check)

  program
    .command('reset')
    .description('keep the index of a chain aside, so that the next server indexes the chain anew')
    .argument('<chainId>', 'the EVM chain', readChainId)
    .option('-c, --config <file>', 'the configuration of the server')
    .option('-y, --yes', 'ask nothing')
    .addHelpText(
      'after',
      `
The index is renamed, and one that was kept by an earlier reset is deleted. A server that writes the chain has to be stopped
before. For a node that came back with another genesis block; a development chain (chain id 31337 or 1337, or "dev": true)
does so by itself.

Exit code: 0 when it is done or there was no index, 1 when it is not done, 2 for a wrong configuration.`
    )
    .action(reset)

  program
    .command('verify')
    .description('prove that the history of an account is complete, or name what is missing in it')
    .argument('<chainId>', 'the EVM chain', readChainId)
    .argument('<address>', 'the account: 0x and 40 digits of hex', readAddress)
    .option('-c, --config <file>', 'the configuration of the server: its address, and a project with a key')
    .option('-u, --url <url>', 'ask this server, in place of the one of the configuration', readServerUrl)
    .option('-p, --project <projectId>', 'ask as this project', readProjectId)
    .option('-k, --key <key>', 'its server key, where the configuration does not have it in plain text')
    .option('--json', 'print the certificate as one JSON object in place of tables')
    .addHelpText(
      'after',
      `
The server is asked for svc_verifyHistory: it compares its index with the state of the chain at one block.

Examples:
  chain-data verify 1 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --config chain-data.json
  chain-data verify 1 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --url https://rpc.example.com --project shop --key "$KEY"

Exit code: 0 when nothing is missing, 1 when something is, 3 when not everything can be known, 2 when there is no
certificate: wrong usage, a wrong configuration, or a server that gives none.`
    )
    // One of the other codes would say something of the history.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : usageExit))
    .action(verify)

  addProjectCommands(program)
  return program
}

/** Adds `chain-data project create|list|rotate|revoke`. */
function addProjectCommands(program: Command): void {
  const project = program.command('project').description('manage the projects that may call, and their keys')

  const subcommand = (name: string, description: string, example: string) =>
    project
      .command(name)
      .description(description)
      .option('-c, --config <file>', 'the configuration of the server, which may name a projectsFile')
      .option('-f, --file <file>', 'the projects file, in place of the one that the configuration names')
      .option('--json', 'print one JSON object')
      .addHelpText('after', `\nExample:\n  ${example}\n\n${projectExits}`)

  subcommand(
    'create',
    'make a key for a project, new or not, and print it once; keep its digest in the projects file, or print it for the configuration',
    'chain-data project create shop --client --origin https://shop.example --file projects.json'
  )
    .argument('<projectId>', 'user name of HTTP Basic', readProjectId)
    .option('--client', 'make a publishable key for web pages in place of a secret one for servers')
    .option('--origin <origin...>', 'origins of the pages that may use the client key', readOrigins)
    .option('--name <name>', 'what the key is called in the list', readName)
    .option('--expires <time>', 'end the key after so long, such as 90d', readLifetime)
    .action(reporting(createProject))

  subcommand(
    'list',
    'show all projects and keys, without secrets',
    'chain-data project list --file projects.json'
  ).action(reporting(listProjects))

  subcommand(
    'rotate',
    'make a new key beside an old one, which ends after the grace',
    'chain-data project rotate shop --key 1a2b3c4d --grace 7d --file projects.json'
  )
    .argument('<projectId>', 'the project', readProjectId)
    .option('-k, --key <key>', 'id or name of the old key; may be left out where only one can be meant')
    .option(
      '--grace <time>',
      'how long the old key still works, such as 30m, 24h or 7d',
      readDuration,
      86_400_000
    )
    .action(reporting(rotateProjectKey))

  subcommand(
    'revoke',
    'end a key at once, or without --key the project with all of its keys',
    'chain-data project revoke shop --key 1a2b3c4d --file projects.json'
  )
    .argument('<projectId>', 'the project', readProjectId)
    .option('-k, --key <key>', 'id or name of the key')
    .option('-y, --yes', 'also when it is the last key of the project')
    .action(reporting(revokeProjectKey))
}

/** Runs the command, and words what it throws on standard error. */
function reporting<A extends unknown[]>(run: (...args: A) => Promise<void>): (...args: A) => Promise<void> {
  return async (...args) => {
    try {
      await run(...args)
    } catch (error) {
      const isConfig = error instanceof ConfigError
      const isRefusal = error instanceof ProjectEditError || error instanceof InitError
      if (!isConfig && !isRefusal) throw error
      process.stderr.write(`${isConfig ? 'Configuration error:\n' : ''}${error.message}\n`)
      process.exitCode = isConfig ? configErrorExit : refusedExit
    }
  }
}
