import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import { Command } from 'commander'
import { describeConfig } from '../config/config.ts'
import { addProjectCommands } from './addProjectCommands.ts'
import { addVerifyCommand } from './addVerifyCommand.ts'
import { check } from './check.ts'
import { serve } from './serve.ts'
import { status } from './status.ts'

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

  addVerifyCommand(program)
  addProjectCommands(program)
  return program
}
