import { chainPresets } from '../../model/chainPresets.ts'
import { labelChain, solanaChains } from '../../model/labelChain.ts'
import { scrubText } from '../../platform/scrubText.ts'
import { CommandError } from './reporting.ts'

/** Names that are said in place of the official ones. */
const otherNames: Readonly<Record<string, number>> = {
  ...{ mainnet: 1, optimism: 10, bsc: 56, bnb: 56, arbitrum: 42_161, avalanche: 43_114 }
}

/** Reads arguments: URLs of nodes, and names or ids of chains, in any order. @throws {CommandError} one is neither. */
export function readTargets(args: readonly string[]) {
  const urls: string[] = []
  const chainIds: number[] = []
  for (const arg of args) {
    if (/^https?:\/\//i.test(arg) && URL.canParse(arg)) urls.push(arg)
    else if (/^wss?:/i.test(arg)) {
      throw new CommandError(
        `${scrubText(arg, 100)} is a WebSocket; expected the http:// or https:// URL of the node. The WebSocket goes into wsUrls of the written file`
      )
    } else chainIds.push(findChain(arg))
  }
  return { urls, chainIds }
}

function findChain(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const shown = scrubText(text, 60)
  const wanted = plain(text)
  const presets = [...chainPresets.values(), ...solanaChains]
  const exact = presets.find(({ name }) => plain(name) === wanted)?.chainId ?? otherNames[wanted]
  const similar = presets.filter(({ name }) => wanted !== '' && plain(name).startsWith(wanted))
  const found = exact ?? (similar.length === 1 ? similar[0]?.chainId : undefined)
  if (found !== undefined) return found
  const list = similar.map(({ chainId }) => labelChain(chainId)).join(', ')
  throw new CommandError(
    list === ''
      ? `"${shown}" is neither the URL of a node nor a chain known by name; expected a URL such as http://127.0.0.1:8545, a chain id, or a name such as polygon`
      : `"${shown}" may be one of several chains: ${list}; expected the id of one of them`
  )
}

/** Compares names without case, blanks and hyphens. */
const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, '')
