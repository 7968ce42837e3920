import { ChainDataError, ConfigError, NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import { scrubText } from '../../platform/scrubText.ts'

const longestText = 200

const adviceOnFault: Readonly<Record<string, string>> = {
  unreachable: 'check that it runs, and that host and port can be reached from here',
  timedOut: 'check that it is up and not overloaded, and that it can be reached from here',
  throttled: 'it limits the rate of calls: wait, or raise the limit there',
  exhausted: 'its quota is used up: raise it there',
  malformed: 'this is no JSON-RPC address: check the path of the URL',
  refused: 'check the path of the URL and what the provider allows',
  tooLarge: 'its answers are larger than may be read',
  behind: 'it is behind the others: wait until it has caught up'
}

/**
 * A failed call to a node in words for an operator, who sees beside it which node is meant.
 *
 * @param error - what one of the chains' own readers has thrown; anything else is a bug and thrown on.
 */
export function describeNodeFailure(error: unknown): { readonly found: string; readonly advice: string } {
  if (!(error instanceof ChainDataError)) throw error
  return { found: scrubText(plain(error.message), longestText), advice: adviceOn(error) }
}

/** A single node is asked, so its place among others says nothing. */
function plain(message: string): string {
  return message.replace(/^chain \d+: (identity: )?/, '').replaceAll('upstream 1', 'it')
}

function adviceOn(error: ChainDataError): string {
  const { fault, httpStatus } = error.context
  if (error instanceof ConfigError) return 'take it out, or mend chainId or the URL'
  if (error instanceof NodeRpcError) return 'ask its provider for the method, or take another node'
  if (error instanceof NodeContradictionError) return 'do not trust it: take another node'
  if (httpStatus === 401 || httpStatus === 403) return 'check the key or the credentials in the URL'
  return adviceOnFault[String(fault)] ?? 'look at its log'
}
