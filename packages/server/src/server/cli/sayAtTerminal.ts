import { codeOf } from '@chain-data/index'
import { labelChain } from '../../model/labelChain.ts'
import { type NodeEndpoint, urlOf } from '../../model/nodeEndpoint.ts'
import { hostOf } from '../../platform/nameNodes.ts'
import { identifyNode } from '../check/identifyNode.ts'
import type { Config } from '../config/config.ts'
import type { ChainWords } from './terminal.ts'

const nodeTimeoutMs = 5_000

/** Returns the names of all chains of a configuration, and of their nodes. */
export function wordChains({ chains }: Config): ReadonlyMap<number, ChainWords> {
  return new Map([
    ...chains.evm.map(
      ({ chainId, name, rpcUrls }) => [chainId, { name, hosts: rpcUrls.map(urlOf).map(hostOf) }] as const
    ),
    ...chains.solana.map(
      ({ chainId, rpcUrls }) =>
        [chainId, { name: labelChain(chainId), hosts: rpcUrls.map(urlOf).map(hostOf) }] as const
    )
  ])
}

/**
 * Says of each node that does not answer, or serves another chain, by its host, why and what to do.
 *
 * @param file - the configuration, for the command that says more.
 * @param say - called for each such node as soon as it is known.
 */
export function reportUselessNodes(
  { chains }: Config,
  file: string | undefined,
  say: (text: string) => void
): void {
  const command = `chain-data check${file === undefined ? '' : ` --config ${file}`}`
  const look = async (endpoint: NodeEndpoint, chainId: number) => {
    const identity = await identifyNode(endpoint, nodeTimeoutMs)
    const where = `${hostOf(urlOf(endpoint))}, node of ${labelChain(chainId)}`
    if (identity.kind === 'unusable') {
      say(`${where}: ${identity.found}. Next: ${identity.advice}. More: ${command}`)
    } else if ((identity.chainId ?? chainId) !== chainId) {
      say(
        `${where}: it serves ${labelChain(identity.chainId ?? 0)}. Next: mend chainId or the URL. More: ${command}`
      )
    }
  }
  for (const { rpcUrls, chainId } of [...chains.evm, ...chains.solana]) {
    for (const endpoint of rpcUrls) look(endpoint, chainId).catch(() => undefined)
  }
}

/** Words a failure to listen, with what to do; `undefined` for another failure. */
export function describeListenFailure(error: unknown, { host, port }: Config['listen']): string | undefined {
  const code = codeOf(error)
  if (code === 'EADDRINUSE') {
    return (
      `Port ${port} of ${host} is taken by another program (EADDRINUSE). End that program: \`chain-data status\` shows it ` +
      `if it is a chain-data server, \`lsof -i :${port}\` whatever it is. Or listen elsewhere: set CHAIN_DATA_PORT, or ` +
      `listen.port in the configuration, to a free port such as ${port + 1}.`
    )
  }
  if (code === 'EACCES') {
    return `Port ${port} of ${host} may not be opened by this user (EACCES). Set listen.port to 1024 or more, and put a proxy in front.`
  }
  if (code === 'EADDRNOTAVAIL') {
    return `${host} is no address of this machine (EADDRNOTAVAIL). Set listen.host to one, such as 127.0.0.1.`
  }
  return undefined
}
