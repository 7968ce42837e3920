import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { chainPresets, devChainIds } from '../../model/chainPresets.ts'
import { labelChain } from '../../model/labelChain.ts'
import type { ConfigInput } from '../config/config.ts'
import { createServerKey } from './changeProjectsFile.ts'
import { chooseStart } from './chooseStart.ts'
import { type Asker, createAsker } from './createAsker.ts'
import { formatCurl, formatProgram } from './formatFirstCall.ts'
import { readTargets } from './readTargets.ts'
import { CommandError } from './reporting.ts'
import { serve } from './serve.ts'
import { type SeenChain, surveyChains } from './surveyChains.ts'
import { choosePort, writeConfigFile } from './writeConfigFile.ts'

/** Options of `chain-data init`, as its help explains them. */
interface InitOptions {
  readonly config: string
  readonly project: string
  readonly port?: number
  readonly yes?: true
  readonly force?: true
  readonly start?: true
  readonly waive?: true
}

/** Addresses that nobody has. */
const emptyAddress = {
  evm: '0x0000000000000000000000000000000000000001',
  solana: '11111111111111111111111111111111'
}

/**
 * `chain-data init`: checks nodes, writes the configuration that fits them and a projects file with one key, and prints
 * how to ask the service. Without a terminal, and with `yes`, nothing is asked.
 *
 * @param args - URLs of nodes, and names or ids of chains.
 * @throws {CommandError} nothing was written; the message says what to do.
 */
export async function init(args: readonly string[], options: InitOptions): Promise<void> {
  const { config: file, project: projectId } = options
  const asker = createAsker(options.yes !== true)
  if (
    existsSync(file) &&
    !options.force &&
    !(await asker.confirm(`${file} is there. Overwrite it?`, false))
  ) {
    throw new CommandError(
      `${file} is there, and stays as it is; expected --force to overwrite it, or another name by --config`
    )
  }
  const { urls: given, chainIds } = readTargets(args)
  const urls = given.length > 0 ? given : [await askForUrl(chainIds, asker)]
  print('Checking the nodes ...\n')
  const seen = await surveyChains(urls, chainIds, print)
  print('\n')
  const evm = []
  const solana = []
  for (const chain of seen) {
    if (chain.kind === 'evm') evm.push(await settle(chain, options, asker))
    else {
      solana.push({ chainId: chain.chainId, rpcUrls: [...chain.urls] })
      print(`${chain.name}: holdings are read from the node when they are asked for; nothing is indexed.\n`)
    }
  }
  const port = await choosePort(options.port, print)
  const folder = dirname(file)
  const projectsFile = join(folder, 'projects.json')
  const input: ConfigInput = {
    ...(port === 8080 ? {} : { listen: { port } }),
    store: `sqlite:${folder === '.' ? './chain-data' : join(folder, 'chain-data')}`,
    projectsFile,
    chains: { ...(evm.length > 0 ? { evm } : {}), ...(solana.length > 0 ? { solana } : {}) }
  }
  const before = existsSync(projectsFile) ? ', which was there' : ''
  const serverKey = await createServerKey(projectId, projectsFile)
  await writeConfigFile(file, input)
  print(`\nWrote ${file}, and a key of project ${projectId} to ${projectsFile}${before}.\n`)
  printCalls(seen, port, { projectId, serverKey })
  const isStarted =
    options.start === true || (asker.isInteractive && (await asker.confirm('\nStart the server now?', true)))
  if (isStarted) return serve({ config: file })
  print(`\nStart it:  npx chain-data serve --config ${file}\n`)
}

async function askForUrl(chainIds: readonly number[], asker: Asker): Promise<string> {
  const what = ['a node', chainIds.map(chainId => labelChain(chainId)).join(' or ')]
    .filter(Boolean)
    .join(' of ')
  const answer = await asker.question(`URL of ${what}, such as https://host/key:`)
  const [url] = answer === undefined ? [] : readTargets([answer]).urls
  if (url !== undefined) return url
  throw new CommandError(
    `No URL of ${what} was given; expected one, such as: chain-data init https://your-node`
  )
}

/** Chooses the settings of a chain, and says why; a person may choose the whole of a large one. */
async function settle(chain: SeenChain, options: InitOptions, asker: Asker) {
  const { chainId, name, urls, reports } = chain
  const waivers = await allowWaivers(chain, options, asker)
  const sources = reports.map(({ olderHistory }) => olderHistory)
  const { settings, why, whole } = chooseStart({
    head: Math.max(...reports.map(({ height = 0 }) => height)),
    oldestBlock: reports.flatMap(({ oldestBlock }) => oldestBlock ?? []).sort((a, b) => a - b)[0],
    // The one that answers for most accounts.
    olderHistory: (['ots', 'trace_filter', 'state'] as const).find(each => sources.includes(each)) ?? 'none',
    blockMs: reports.find(({ blockMs }) => blockMs !== undefined)?.blockMs
  })
  print(`${name}: ${why.join(' ')}\n`)
  const question = `Index from block ${whole?.startBlock} on all the same?`
  const start = whole !== undefined && (await asker.confirm(question, false)) ? whole : settings
  // Its own blocks are none of the public chain, and may begin anew at any time.
  const isCopy =
    chainPresets.has(chainId) && !devChainIds.has(chainId) && reports.some(({ isDevNode }) => isDevNode)
  if (isCopy) {
    print(
      `${name}: the node is a developer's, and copies this chain under its id. "dev": true is set, so that its blocks are not held against their headers like those of the public chain, and the index follows wherever the node goes.\n`
    )
  }
  const isTraced = chain.findings.some(({ check, state }) => check === 'traces' && state === 'ok')
  return {
    ...{ chainId, rpcUrls: [...urls], ...start },
    ...(isCopy ? { dev: true } : {}),
    ...(isTraced ? { traces: 'auto' as const } : {}),
    ...(waivers.length > 0 ? { waivers: [...waivers] } : {})
  }
}

/** @throws {CommandError} the blocks of the chain break checks, and nobody allows it. */
async function allowWaivers({ name, waivers }: SeenChain, { waive }: InitOptions, asker: Asker) {
  const checks = waivers.map(({ check }) => check).join(', ')
  const lines = waivers.map(waiver => `\n  ${JSON.stringify(waiver)}`).join('')
  const found = `Blocks of ${name} break these checks on every node given: ${checks}${lines}\n`
  const isAllowed = waivers.length === 0 || waive === true
  if (isAllowed || (await asker.confirm(`${found}Allow it, since the chain is known for it?`, false)))
    return waivers
  throw new CommandError(
    `${found}If the chain is known for it, allow it by --waive; else a node is wrong: take another one`
  )
}

function printCalls(
  seen: readonly SeenChain[],
  port: number,
  key: { readonly projectId: string; readonly serverKey: string }
): void {
  // `listen.operator` is left as it is by default: the port after the one for calls, or any where that is taken.
  print(`\nStatus page:  http://127.0.0.1:${port + 1}/\n`)
  print(
    'The service listens without TLS on this machine only. Put a proxy with TLS before it for other callers.\n'
  )
  const calls = seen.map(chain => {
    const active = chain.reports.find(({ address }) => address !== undefined)?.address
    const call = {
      ...key,
      baseUrl: `http://127.0.0.1:${port}`,
      chain,
      address: active ?? emptyAddress[chain.kind]
    }
    const which = active
      ? 'this account was active lately'
      : 'no transaction was found in its newest blocks, so this account has none'
    print(`\nAsk it about ${chain.name} (${which}; the key is shown only now):\n\n${formatCurl(call)}\n`)
    return call
  })
  const programs = calls.slice(0, 1).map(formatProgram)
  print(`\nOr from a program (npm install @chain-data/client):\n\n${programs.join('')}\n`)
}

function print(text: string): void {
  process.stdout.write(text)
}
