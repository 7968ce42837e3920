import type { Finding } from '../../../model/finding.ts'
import { MetadataError } from '../../../platform/errors.ts'
import { type Logger, silentLogger } from '../../../platform/logger.ts'
import { scrubText } from '../../../platform/scrubText.ts'
import type { Config } from '../../config/config.ts'
import { createGuardedFetch } from '../../metadata/guardedFetch.ts'
import { createTokenLists } from '../../metadata/tokenLists.ts'
import { placeFindings } from './placedFinding.ts'
import type { Look } from './runLooks.ts'

const longestText = 200
/** The host was there: what it says of its front page does not matter. */
const answered = new Set(['STATUS', 'CONTENT', 'ENCODING', 'TOO_LARGE', 'REDIRECT', 'PROTOCOL'])

/** One look for each gateway and token list, through the fetcher that the server uses. Failures are warnings. */
export function checkMetadata({ metadata, chains }: Config, timeoutMs: number): readonly Look[] {
  const { allowHosts, ipfsGateways, arweaveGateways, tokenLists, tokenListRefreshMs } = metadata
  const guardedFetch = createGuardedFetch({ allowHosts, limits: { timeoutMs } })
  const gateways = { ipfs: ipfsGateways, arweave: arweaveGateways }

  async function checkGateway(url: string): Promise<Finding> {
    const startedMs = performance.now()
    try {
      await guardedFetch(url)
    } catch (error) {
      if (!(error instanceof MetadataError)) throw error
      if (!answered.has(String(error.context.reason))) return unused('gateway', error.message)
    }
    const tookMs = Math.round(performance.now() - startedMs)
    return { check: 'gateway', state: 'ok', found: `answers in ${tookMs} ms` }
  }

  async function checkTokenList(source: string): Promise<Finding> {
    let problem: string | undefined
    let count = 0
    const logger: Logger = {
      ...silentLogger,
      info: (_, fields) => {
        count = fields?.count ?? 0
      },
      warn: (_, fields) => {
        problem ??= fields?.problem
      }
    }
    const lists = createTokenLists({
      sources: [source],
      chainIds: chains.evm.map(({ chainId }) => chainId),
      guardedFetch,
      gateways,
      allowHosts,
      refreshMs: tokenListRefreshMs,
      logger
    })
    await lists.start()
    lists.close()
    if (problem !== undefined) return unused('token list', problem)
    return { check: 'token list', state: 'ok', found: `${count} tokens of the served chains` }
  }

  const looksAt = (key: string, urls: readonly string[], look: (url: string) => Promise<Finding>) =>
    urls.map((url, index): Look => {
      const place = `metadata.${key}[${index}]`
      return { place, run: async () => placeFindings(place, [await look(url)], originOf(url)) }
    })
  return [
    ...looksAt('ipfsGateways', ipfsGateways, checkGateway),
    ...looksAt('arweaveGateways', arweaveGateways, checkGateway),
    ...looksAt('tokenLists', tokenLists, checkTokenList)
  ]
}

function unused(check: string, problem: string): Finding {
  const advice = 'answers lack what comes from there; check the URL and the outbound firewall'
  return { check, state: 'warning', found: scrubText(problem, longestText), advice }
}

/** A token list may be a file. */
function originOf(source: string): string | undefined {
  return /^https?:/i.test(source) ? source : undefined
}
