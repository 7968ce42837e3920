import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { chainPresets, devChainIds } from '../../model/chainPresets.ts'
import { labelChain } from '../../model/labelChain.ts'
import type { ConfigInput } from '../config/config.ts'
import { createServerKey } from './changeProjectsFile.ts'
import { chooseStart } from './chooseStart.ts'
import { type Asker, createAsker } from './createAsker.ts'
import { formatFirstCall } from './formatFirstCall.ts'
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
  const isFree = !existsSync(file) || options.force
  if (!isFree && !(await asker.confirm(`${file} is there. Overwrite it?`, false))) {
    throw new CommandError(
      `${file} is there, and stays as it is; expected --force to overwrite it, or another name by --config`
    )
  }
  const { urls, chainIds } = readTargets(args)
  const given = urls.length > 0 ? urls : await askForUrl(chainIds, asker)
  print('Checking the nodes ...\n')
  const seen = await surveyChains(given, chainIds, print)
  print('\n')
  const evm = []
  for (const chain of seen.filter(({ kind }) => kind === 'evm')) evm.push(await settle(chain, options, asker))
  const solana = seen.flatMap(({ kind, chainId, name, urls, reports }) => {
    if (kind === 'evm') return []
    const dev = reports.some(({ isDevNode }) => isDevNode)
    print(`${name}: holdings are read from the node when they are asked for; nothing is indexed.\n`)
    if (dev) print(`${name}: the node is of another cluster under this id, so "dev": true is set.\n`)
    return { chainId, rpcUrls: [...urls], ...(dev && { dev }) }
  })
  const port = await choosePort(options.port, print)
  const folder = dirname(file)
  const projectsFile = join(folder, 'projects.json')
  const input: ConfigInput = {
    ...(port === 8080 ? {} : { listen: { port } }),
    store: `sqlite:${folder === '.' ? './chain-data' : join(folder, 'chain-data')}`,
    projectsFile,
    chains: { ...(evm.length > 0 && { evm }), ...(solana.length > 0 && { solana }) }
  }
  const before = existsSync(projectsFile) ? ', which was there' : ''
  const key = { projectId, serverKey: await createServerKey(projectId, projectsFile) }
  await writeConfigFile(file, input)
  print(`\nWrote ${file}, and a key of project ${projectId} to ${projectsFile}${before}.\n`)
  printCalls(seen, port, key)
  const starts =
    options.start ?? (asker.isInteractive && (await asker.confirm('\nStart the server now?', true)))
  if (starts) return serve({ config: file })
  print(`\nStart it:  npx chain-data serve --config ${file}\n`)
}

async function askForUrl(chainIds: readonly number[], asker: Asker): Promise<readonly string[]> {
  const chains = chainIds.map(chainId => labelChain(chainId)).join(' or ')
  const what = chains === '' ? 'a node' : `a node of ${chains}`
  const answer = await asker.question(`URL of ${what}, such as https://host/key:`)
  const { urls } = readTargets(answer === undefined ? [] : [answer])
  if (urls.length > 0) return urls
  throw new CommandError(
    `No URL of ${what} was given; expected one, such as: chain-data init https://your-node`
  )
}

/** Chooses the settings of a chain, and says why; a person may choose the whole of a large one. */
async function settle(chain: SeenChain, options: InitOptions, asker: Asker) {
  const { chainId, name, urls, reports, waivers } = chain
  await allowWaivers(chain, options, asker)
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
  if (waivers.length === 0 || waive) return
  const checks = waivers.map(({ check }) => check).join(', ')
  const lines = waivers.map(waiver => `\n  ${JSON.stringify(waiver)}`).join('')
  const found = `Blocks of ${name} break these checks on every node given: ${checks}${lines}\n`
  if (await asker.confirm(`${found}Allow it, since the chain is known for it?`, false)) return
  throw new CommandError(
    `${found}If the chain is known for it, allow it by --waive; else a node is wrong: take another one`
  )
}

function printCalls(seen: readonly SeenChain[], port: number, key: { projectId: string; serverKey: string }) {
  const baseUrl = `http://127.0.0.1:${port}`
  // `listen.operator` is left as it is by default: the port after the one for calls, or any where that is taken.
  print(`\nStatus page:  http://127.0.0.1:${port + 1}/
The service listens without TLS on this machine only. Put a proxy with TLS before it for other callers.\n`)
  const programs = seen.map(({ kind, chainId, name, reports }) => {
    const active = reports.find(({ address }) => address !== undefined)?.address
    const address = active ?? emptyAddress[kind]
    const { curl, program } = formatFirstCall({ ...key, baseUrl, kind, chainId, address })
    const which = active
      ? 'this account was active lately'
      : 'no transaction was found in its newest blocks, so this account has none'
    print(`\nAsk it about ${name} (${which}; the key is shown only now):\n\n${curl}\n`)
    return program
  })
  print(`\nOr from a program (npm install @chain-data/client):\n\n${programs[0]}\n`)
}

function print(text: string): void {
  process.stdout.write(text)
}
