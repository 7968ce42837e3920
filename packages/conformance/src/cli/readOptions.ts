import { parseArgs } from 'node:util'
import type { ConformanceOptions } from '../runConformance.ts'

/** What the command is asked to do. */
export type Command =
  | { readonly kind: 'help' | 'list'; readonly only: (name: string) => boolean; readonly json: boolean }
  | { readonly kind: 'run'; readonly options: ConformanceOptions; readonly json: boolean }
  | { readonly kind: 'wrong'; readonly message: string }

export const usage = `npx @chain-data/conformance --base-url <url> --project <id> --key <key> [options]

Runs the vectors of the specification, and what has to hold for the answers of a service, against any
implementation of it, reading only, and prints a report.

  --base-url <url>         address of the service, without its endpoints
  --project <id>           a project of the service
  --key <key>              its server key; also from CHAIN_DATA_KEY, which other processes do not see
  --evm-chain <id>         chain to look at; without it the lowest that the service names
  --solana-chain <id>      cluster to look at; without it the lowest that the service names
  --address <address>      EVM or Solana address to look at, as often as there are some; without an EVM one
                           they are searched for on the chain
  --accounts <count>       most EVM accounts that are looked at, found ones included (6)
  --method-prefix <text>   what the host writes in place of svc_
  --only <pattern>         run the checks whose name fits, as often as there are some; * is any text
  --except <pattern>       leave out the checks whose name fits
  --concurrency <count>    requests under way at the same time (8)
  --timeout-ms <ms>        of each request (30000)
  --json                   print the report as JSON
  --list                   print the checks and end
  --help                   print this and end

Exit code: 0 nothing failed, 1 something did, 2 wrong usage.
`

const flags = {
  'base-url': { type: 'string' },
  project: { type: 'string' },
  key: { type: 'string' },
  'evm-chain': { type: 'string' },
  'solana-chain': { type: 'string' },
  address: { type: 'string', multiple: true },
  accounts: { type: 'string' },
  'method-prefix': { type: 'string' },
  only: { type: 'string', multiple: true },
  except: { type: 'string', multiple: true },
  concurrency: { type: 'string' },
  'timeout-ms': { type: 'string' },
  json: { type: 'boolean' },
  list: { type: 'boolean' },
  help: { type: 'boolean' }
} as const

/** Something on the command line that cannot be meant. Its message holds no value, which could be a key. */
class Misuse extends Error {}

/**
 * What the arguments mean.
 *
 * @param args - Behind the name of the program.
 * @param env - Asked for `CHAIN_DATA_KEY` only.
 */
export function readOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>
): Command {
  try {
    const { values } = parseArgs({ args: [...args], options: flags, allowPositionals: false })
    const json = values.json === true
    const only = readPatterns(values.only, values.except)
    if (values.help) return { kind: 'help', only, json }
    if (values.list) return { kind: 'list', only, json }
    const key = values.key ?? env.CHAIN_DATA_KEY
    return {
      kind: 'run',
      json,
      options: {
        baseUrl: readUrl(values['base-url']),
        projectId: required('--project', values.project),
        key: required('--key', key),
        addresses: (values.address ?? []).map(readAddress),
        only,
        ...named('evmChain', readCount('--evm-chain', values['evm-chain'], 0)),
        ...named('solanaChain', readCount('--solana-chain', values['solana-chain'], 0)),
        ...named('accounts', readCount('--accounts', values.accounts, 1)),
        ...named('methodPrefix', values['method-prefix']),
        ...named('concurrency', readCount('--concurrency', values.concurrency, 1)),
        ...named('timeoutMs', readCount('--timeout-ms', values['timeout-ms'], 1))
      }
    }
  } catch (error) {
    if (error instanceof Misuse) return { kind: 'wrong', message: error.message }
    if (!isArgumentError(error)) throw error
    return { kind: 'wrong', message: 'an argument is unknown, or lacks its value' }
  }
}

/** Node's own words repeat what was given, which may be a key. */
function isArgumentError(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('ERR_PARSE_ARGS_')
}

function named<K extends string, T>(name: K, value: T | undefined): { [k in K]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { [k in K]?: T }
}

function required(flag: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new Misuse(`${flag} is missing`)
  return value
}

function readUrl(value: string | undefined): string {
  const text = required('--base-url', value)
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!isHttp) throw new Misuse('--base-url must be an http or https address')
  if (url?.username !== '' || url.password !== '') throw new Misuse('--base-url must hold no credentials')
  if (url.search !== '' || url.hash !== '') throw new Misuse('--base-url must end with its path')
  return text
}

function readCount(flag: string, value: string | undefined, least: number): number | undefined {
  if (value === undefined) return undefined
  const count = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(count) || count < least)
    throw new Misuse(`${flag} must be a number from ${least}`)
  return count
}

function readAddress(value: string): string {
  const isAddress = /^0x[0-9a-fA-F]{40}$/.test(value) || /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(value)
  if (!isAddress) throw new Misuse('--address must be an EVM or Solana address')
  return value
}

function readPatterns(
  only: readonly string[] = [],
  except: readonly string[] = []
): (name: string) => boolean {
  const fits = (pattern: string, name: string) => {
    const parts = pattern.split('*').map(part => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    return new RegExp(`^${parts.join('.*')}$`).test(name)
  }
  return name =>
    (only.length === 0 || only.some(pattern => fits(pattern, name))) &&
    !except.some(pattern => fits(pattern, name))
}
