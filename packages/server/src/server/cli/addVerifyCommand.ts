import { type Command, InvalidArgumentError } from 'commander'
import { projectIdSchema } from '../config/projectsSchema.ts'
import { verify } from './verify.ts'

const usageExit = 2

/** Adds `chain-data verify`. */
export function addVerifyCommand(program: Command): void {
  program
    .command('verify')
    .description('prove that the history of an account is complete, or name what is missing in it')
    .argument('<chainId>', 'the EVM chain', readChainId)
    .argument('<address>', 'the account: 0x and 40 digits of hex', readAddress)
    .option('-c, --config <file>', 'the configuration of the server: its address, and a project with a key')
    .option('-u, --url <url>', 'ask this server, in place of the one of the configuration', readUrl)
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
}

function readChainId(text: string): number {
  const chainId = Number(text)
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(chainId)) return chainId
  throw new InvalidArgumentError('Expected an integer from 0 to 2^53-1, such as 1.')
}

function readAddress(text: string): string {
  if (/^0x[\da-f]{40}$/i.test(text)) return text
  throw new InvalidArgumentError('Expected 0x and 40 digits of hex.')
}

function readUrl(text: string): string {
  const url = text.replace(/\/+$/, '')
  if (/^https?:\/\/[^\s?#@\\]+$/i.test(url) && URL.canParse(url) && !/\/(evm-chain|solana)$/.test(url))
    return url
  throw new InvalidArgumentError(
    'Expected http or https without user information, query, fragment and endpoint, such as https://rpc.example.com.'
  )
}

function readProjectId(text: string): string {
  if (projectIdSchema.safeParse(text).success) return text
  throw new InvalidArgumentError('Expected 1 to 128 characters without a colon or control characters.')
}
