import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { chainPresets, devChainIds } from '../../model/chainPresets.ts'
import type { DeepSource } from '../../model/deepHistory.ts'
import { labelChain } from '../../model/labelChain.ts'
import type { ConfigInput } from '../config/config.ts'
import { createServerKey } from './changeProjectsFile.ts'
import { chooseStart, type Start } from './chooseStart.ts'
import { type Asker, createAsker } from './createAsker.ts'
import { type FirstCall, formatCurl, formatProgram } from './formatFirstCall.ts'
import { readTargets } from './readTargets.ts'
import { CommandError } from './reporting.ts'
import { serve } from './serve.ts'
import { groupByChain, type SeenChain, surveyChain } from './surveyChain.ts'
import { choosePort, writeConfigFile } from './writeConfigFile.ts'

/** Options of `chain-data init`. */
interface InitOptions {
  /** The configuration to write. */
  readonly config: string
  readonly project: string
  /** Absent: 8080, or the next one that is free. */
  readonly port?: number
  readonly yes?: true
  readonly force?: true
  readonly start?: true
  /** Allow the blocks of a chain to break the checks that they are seen to break. */
  readonly waive?: true
}

/** Nobody has it. */
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
  await requireUnused(file, options, asker)
  const { urls, chainIds } = readTargets(args)
  const given = urls.length > 0 ? urls : [await askForUrl(chainIds, asker)]
  print('Checking the nodes ...\n')
  const groups = await groupByChain(given, chainIds)
  const seen: SeenChain[] = []
  for (const group of groups) seen.push(await surveyChain(group, print))

  print('\n')
  const evm = []
  for (const chain of seen.filter(({ kind }) => kind === 'evm')) evm.push(await settle(chain, options, asker))
  const solana = seen
    .filter(({ kind }) => kind === 'solana')
    .map(({ chainId, nodes }) => ({ chainId, rpcUrls: nodes.map(({ url }) => url) }))
  for (const { name } of seen.filter(({ kind }) => kind === 'solana')) {
    print(`${name}: holdings are read from the node when they are asked for; nothing is indexed.\n`)
  }

  const port = await choosePort(options.port, print)
  const folder = dirname(file)
  const projectsFile = folder === '.' ? 'projects.json' : join(folder, 'projects.json')
  const input: ConfigInput = {
    ...(port === 8080 ? {} : { listen: { port } }),
    store: `sqlite:${folder === '.' ? './chain-data' : join(folder, 'chain-data')}`,
    projectsFile,
    chains: { ...(evm.length > 0 ? { evm } : {}), ...(solana.length > 0 ? { solana } : {}) }
  }
  const isNew = !existsSync(projectsFile)
  const serverKey = await createServerKey(projectId, projectsFile)
  await writeConfigFile(file, input)
  print(
    `\nWrote ${file}, and a key of project ${projectId} to ${projectsFile}${isNew ? '' : ', which was there'}.\n`
  )
  printCalls(seen, { baseUrl: `http://127.0.0.1:${port}`, projectId, serverKey })

  const isStarted =
    options.start === true || (asker.isInteractive && (await asker.confirm('\nStart the server now?', true)))
  if (isStarted) return serve({ config: file })
  print(`\nStart it:  npx chain-data serve --config ${file}\n`)
}

async function requireUnused(file: string, { force }: InitOptions, asker: Asker): Promise<void> {
  if (!existsSync(file) || force === true) return
  if (await asker.confirm(`${file} is there. Overwrite it?`, false)) return
  throw new CommandError(
    `${file} is there, and stays as it is; expected --force to overwrite it, or another name by --config`
  )
}

async function askForUrl(chainIds: readonly number[], asker: Asker): Promise<string> {
  const names = chainIds.map(chainId => labelChain(chainId)).join(' or ')
  const what = names === '' ? 'a node' : `a node of ${names}`
  const answer = await asker.question(`URL of ${what}, such as https://host/key:`)
  const [url] = answer === undefined ? [] : readTargets([answer]).urls
  if (url !== undefined) return url
  throw new CommandError(
    `No URL of ${what} was given; expected one, such as: chain-data init https://your-node`
  )
}

/** Returns the source that answers for most accounts. */
function bestOf(sources: readonly DeepSource[]): DeepSource {
  const order: readonly DeepSource[] = ['ots', 'trace_filter', 'state']
  return order.find(source => sources.includes(source)) ?? 'none'
}

/** Chooses the settings of a chain, and says why; a person may choose the whole of a large one. */
async function settle(chain: SeenChain, options: InitOptions, asker: Asker) {
  const { chainId, name, nodes } = chain
  const waivers = await allowWaivers(chain, options, asker)
  const offers = nodes.map(({ report }) => report.offers)
  const oldest = offers.flatMap(each => each?.oldestBlock ?? [])
  const head = Math.max(...nodes.map(({ report }) => report.height ?? 0))
  const start: Start = chooseStart({
    head,
    ...(oldest.length > 0 ? { oldestBlock: Math.min(...oldest) } : {}),
    olderHistory: bestOf(offers.map(each => each?.olderHistory ?? 'none')),
    blockMs: nodes.find(({ blockMs }) => blockMs !== undefined)?.blockMs
  })
  print(`${name}: ${start.why.join(' ')}\n`)
  const { whole } = start
  const isWhole =
    whole !== undefined &&
    (await asker.confirm(`Index from block ${whole.startBlock} on all the same?`, false))
  // Its own blocks are none of the public chain, and may begin anew at any time.
  const isCopy =
    chainPresets.has(chainId) && !devChainIds.has(chainId) && offers.some(each => each?.isDevNode === true)
  if (isCopy) {
    print(
      `${name}: the node is a developer's, and copies this chain under its id. "dev": true is set, so that its blocks are not held against their headers like those of the public chain, and the index follows wherever the node goes.\n`
    )
  }
  const isTraced = nodes.some(({ report }) =>
    report.findings.some(({ check, state }) => check === 'traces' && state === 'ok')
  )
  return {
    chainId,
    rpcUrls: nodes.map(({ url }) => url),
    ...(isWhole ? { startBlock: whole.startBlock } : start.settings),
    ...(isCopy ? { dev: true } : {}),
    ...(isTraced ? { traces: 'auto' as const } : {}),
    ...(waivers.length > 0 ? { waivers } : {})
  }
}

/** @throws {CommandError} the blocks of the chain break checks, and nobody allows it. */
async function allowWaivers({ name, waivers }: SeenChain, { waive }: InitOptions, asker: Asker) {
  const checks = waivers.map(({ check }) => check).join(', ')
  const lines = waivers.map(waiver => `  ${JSON.stringify(waiver)}`).join('\n')
  const found = `Blocks of ${name} break these checks on every node given: ${checks}\n${lines}`
  if (waivers.length === 0) return []
  if (
    waive === true ||
    (await asker.confirm(`${found}\nAllow it, since the chain is known for it?`, false))
  ) {
    return waivers.map(({ check, reason, fromBlock = 0, toBlock = null }) => ({
      ...{ check, reason, fromBlock, toBlock }
    }))
  }
  throw new CommandError(
    `${found}\nIf the chain is known for it, allow it by --waive; else a node is wrong: take another one`
  )
}

function printCalls(
  seen: readonly SeenChain[],
  service: Pick<FirstCall, 'baseUrl' | 'projectId' | 'serverKey'>
): void {
  // `listen.operator` is left as it is by default: the port after the one for calls, or any where that is taken.
  const pages = new URL(service.baseUrl)
  pages.port = String(Number(pages.port) + 1)
  print(`\nStatus page:  ${pages}\n`)
  for (const chain of seen) {
    const active = chain.nodes.flatMap(({ address }) => address ?? [])[0]
    const call = { ...service, chain, address: active ?? emptyAddress[chain.kind] }
    const which =
      active === undefined
        ? 'no transaction was found in its newest blocks, so this account has none'
        : 'this account was active lately'
    print(`\nAsk it about ${chain.name} (${which}; the key is shown only now):\n\n${formatCurl(call)}\n`)
  }
  const [first] = seen
  if (first === undefined) return
  const address = first.nodes.flatMap(each => each.address ?? [])[0] ?? emptyAddress[first.kind]
  print(
    `\nOr from a program (npm install @chain-data/client):\n\n${formatProgram({ ...service, chain: first, address })}\n`
  )
}

function print(text: string): void {
  process.stdout.write(text)
}
