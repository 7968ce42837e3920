import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import { Command } from 'commander'
import { describeConfig, usualConfigFile } from '../config/config.ts'
import { addProjectCommands } from './addProjectCommands.ts'
import { check } from './check.ts'
import { init } from './init.ts'
import { readAddress, readAddresses, readChainId, readPort, readProjectId, readServerUrl } from './options.ts'
import { reporting } from './reporting.ts'
import { reset } from './reset.ts'
import { serve } from './serve.ts'
import { status } from './status.ts'
import { noCertificateExit, verify } from './verify.ts'
import { watch } from './watch.ts'

const usually = `; default: ${usualConfigFile}, where it is there`

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
      'URLs of nodes of one chain or several, and names or ids of the chains that are meant, in any order'
    )
    .option('-c, --config <file>', 'the configuration to write', usualConfigFile)
    .option('-p, --project <projectId>', 'the project that gets a key', readProjectId, 'demo')
    .option('--port <port>', 'the port to listen on; default: 8080, or the next free one', readPort)
    .option('-y, --yes', 'ask nothing, take the default of every question')
    .option('--force', 'overwrite the configuration where it is there')
    .option('--waive', 'allow the blocks of a chain to break the checks that they are seen to break')
    .option('--start', 'start the server after writing')
    .addHelpText(
      'after',
      `
URLs, names and ids may stand in any order: each node is asked which chain it serves. With a name or an id, every URL has
to serve one of the chains that are named. Several URLs of one chain become its rpcUrls, in the order given.

Examples:
  chain-data init http://127.0.0.1:8545
  chain-data init 1 137 https://your-ethereum-node https://your-polygon-node
  chain-data init polygon https://your-polygon-node --yes --start

Exit code: 0 when it is done, 1 when it cannot be done.`
    )
    .action(reporting(init))

  program
    .command('serve')
    .description('index the configured chains and answer requests')
    .option(
      '-c, --config <file>',
      `configuration: a JSON file, or a JavaScript or TypeScript module${usually}`
    )
    .addHelpText('after', () => `\n${describeConfig()}`)
    .action((given: { readonly config?: string }) => serve(given, options))

  program
    .command('status')
    .description('show how every chain stands: of the running server, or else from the stores')
    .option('-c, --config <file>', `the configuration of the server${usually}`)
    .option('--json', 'print one JSON object instead of a table')
    .option('--watch', 'ask again every two seconds until it is broken off')
    .addHelpText(
      'after',
      '\nExit code: 0 when every chain is followed, 1 when one is not or no server answers, 2 for a wrong configuration.'
    )
    .action(reporting(status))

  program
    .command('check')
    .description('look at everything that the configuration names: nodes, store, addresses, keys')
    .option('-c, --config <file>', `the configuration of the server${usually}`)
    .option('--deep', 'read the whole index of every chain and compare it with its checksums')
    .option('--json', 'print one JSON object instead of a table')
    .addHelpText(
      'after',
      '\nNothing is written; damage that --deep finds is reported to the server that indexes. Exit code: 0 when all is well, warnings allowed; 1 when something failed; 2 for a wrong configuration.'
    )
    .action(reporting(check))

  program
    .command('reset')
    .description('keep the index of a chain aside, so that the next server indexes the chain anew')
    .argument('<chainId>', 'the EVM chain', readChainId)
    .option('-c, --config <file>', `the configuration of the server${usually}`)
    .option('-y, --yes', 'ask nothing')
    .addHelpText(
      'after',
      `
The index is renamed, and one that was kept by an earlier reset is deleted. A server that writes the chain has to be stopped
before. For a node that came back with another genesis block; a development chain (chain id 31337 or 1337, or "dev": true)
does so by itself.

Exit code: 0 when it is done or there was no index, 1 when it is not done, 2 for a wrong configuration.`
    )
    .action(reporting(reset))

  addAskingCommands(program)
  addProjectCommands(program)
  return program
}

/** Adds the commands that ask a running server about an account. */
function addAskingCommands(program: Command): void {
  const asking = (name: string) =>
    program
      .command(name)
      .option(
        '-c, --config <file>',
        `the configuration of the server: its address, and a project with a key${usually}`
      )
      .option('-u, --url <url>', 'ask this server, in place of the one of the configuration', readServerUrl)
      .option('-p, --project <projectId>', 'ask as this project', readProjectId)
      .option('-k, --key <key>', 'its server key, where the configuration does not have it in plain text')
  asking('verify')
    .description('prove that the history of an account is complete and unaltered, or name what is not')
    .argument('<chainId>', 'the EVM chain', readChainId)
    .argument('<address>', 'the account: 0x and 40 digits of hex', readAddress)
    .option('--roots', 'have each block of the account read again and held against its header')
    .option('--json', 'print the certificate as one JSON object in place of tables')
    .addHelpText(
      'after',
      `
The server is asked for svc_verifyHistory: it compares its index with the state of the chain at one block, and each
stored record with its checksum.

Examples:
  chain-data verify 1 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --config chain-data.json
  chain-data verify 1 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --url https://rpc.example.com --project shop --key "$KEY"

Exit code: 0 when nothing is missing or altered, 1 when something is, 3 when not everything can be known, 2 when there is no
certificate: wrong usage, a wrong configuration, or a server that gives none.`
    )
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : noCertificateExit))
    .action(reporting(verify, noCertificateExit))

  asking('watch')
    .description('print every change of the history of an account while it happens, reorgs included')
    .argument('<chainId>', 'the EVM chain', readChainId)
    .argument('<address...>', 'the accounts, 1 to 100: each 0x and 40 digits of hex', readAddresses)
    .option('--after <cursor>', 'begin after the event with this cursor, or after an x-chain-data-cursor')
    .option('--json', 'print each event as one JSON object on a line, with its cursor')
    .addHelpText(
      'after',
      `
The server is asked for svc_watchAddresses. A stream that breaks is connected again, and goes on after its last event.

Examples:
  chain-data watch 1 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --config chain-data.json
  chain-data watch 1 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --json | jq .kind

Exit code: 1 when there is no stream, 2 for a wrong configuration. Ctrl-C ends it.`
    )
    .action(reporting(watch))
}
