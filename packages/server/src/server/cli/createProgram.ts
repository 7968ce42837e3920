import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import { Command } from 'commander'
import { describeConfig } from '../config/config.ts'
import { check } from './check.ts'
import { readAddress, readChainId, readProjectId, readServerUrl } from './options.ts'
import { addProjectCommands } from './projectCommands.ts'
import { serve } from './serve.ts'
import { status } from './status.ts'
import { verify } from './verify.ts'

const usageExit = 2

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
