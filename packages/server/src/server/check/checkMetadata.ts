import { MetadataError } from '../../platform/errors.ts'
import { type Logger, silentLogger } from '../../platform/logger.ts'
import { scrubText } from '../../platform/scrubText.ts'
import type { Config } from '../config/config.ts'
import { openMetadataSources } from '../start/openMetadataSources.ts'
import { type Finding, type Look, lookAt, ok, warning } from './findings.ts'

const maxTextLength = 200
/** The host was there: what it says of its front page does not matter. */
const answered = new Set(['STATUS', 'CONTENT', 'ENCODING', 'TOO_LARGE', 'REDIRECT', 'PROTOCOL'])

/** One look for each gateway and token list, through the fetcher that the server uses. Failures are warnings. */
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

  const looksAt = (
    key: 'ipfsGateways' | 'arweaveGateways' | 'tokenLists',
    look: (url: string) => Promise<Finding>
  ) => metadata[key].map((url, at) => lookAt(`metadata.${key}[${at}]`, () => look(url), originOf(url)))
  return [
    ...looksAt('ipfsGateways', checkGateway),
    ...looksAt('arweaveGateways', checkGateway),
    ...looksAt('tokenLists', checkTokenList)
  ]
}

function unused(check: string, problem: string): Finding {
  const advice = 'answers lack what comes from there; check the URL and the outbound firewall'
  return warning(check, scrubText(problem, maxTextLength), advice)
}

/** A token list may be a file. */
function originOf(source: string): string | undefined {
  return /^https?:/i.test(source) ? source : undefined
}
