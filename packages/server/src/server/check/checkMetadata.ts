import { MetadataError } from '../../platform/errors.ts'
import { type Logger, silentLogger } from '../../platform/logger.ts'
import { scrubText } from '../../platform/scrubText.ts'
import type { Config } from '../config/config.ts'
import { openMetadataSources } from '../start/openMetadataSources.ts'
import { type Finding, type Look, listEach, ok, warning } from './findings.ts'

const maxTextLength = 200
/** The host was there: what it says of its front page does not matter. */
const answered = new Set(['STATUS', 'CONTENT', 'ENCODING', 'TOO_LARGE', 'REDIRECT', 'PROTOCOL'])

/** Lists a check of each gateway and token list, through the fetcher that the server uses. Failures are warnings. */
export function checkMetadata(config: Config, timeoutMs: number): readonly Look[] {
  const { metadata } = config
  const { guardedFetch } = openMetadataSources(config, { logger: silentLogger, timeoutMs })

  async function checkGateway(url: string): Promise<Finding> {
    const startedMs = performance.now()
    try {
      await guardedFetch(url)
    } catch (error) {
      if (!(error instanceof MetadataError)) throw error
      if (!answered.has(String(error.context.reason))) return unused('gateway', error.message)
    }
    return ok('gateway', `answers in ${Math.round(performance.now() - startedMs)} ms`)
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
    const alone = { ...config, metadata: { ...metadata, tokenLists: [source] } }
    const { tokenLists } = openMetadataSources(alone, { logger, timeoutMs })
    await tokenLists.start()
    tokenLists.close()
    if (problem !== undefined) return unused('token list', problem)
    return ok('token list', `${count} tokens of the served chains`)
  }

  return [
    ...listEach(metadata.ipfsGateways, 'metadata.ipfsGateways', checkGateway),
    ...listEach(metadata.arweaveGateways, 'metadata.arweaveGateways', checkGateway),
    ...metadata.tokenLists.map((source, at) => ({
      place: `metadata.tokenLists[${at}]`,
      // A token list may be a file.
      url: /^https?:/i.test(source) ? source : undefined,
      run: () => checkTokenList(source)
    }))
  ]
}

function unused(check: string, problem: string): Finding {
  const advice = 'answers lack what comes from there; check the URL and the outbound firewall'
  return warning(check, scrubText(problem, maxTextLength), advice)
}
