import { ChainDataError } from '@chain-data/index'
import type { FoundPrices, NamedPrices, PricedAsset, Prices, ReadPrices } from '../../model/prices.ts'
import { createHttpUpstream } from '../../nodes/upstreams/httpUpstream.ts'
import { BoundedMap } from '../../platform/boundedMap.ts'
import type { Clock } from '../../platform/clock.ts'
import { DeadlineError, withDeadline } from '../../platform/concurrency/deadline.ts'
import type { Logger } from '../../platform/logger.ts'

const longestWaitMs = 2_000
const freshForMs = 60_000
const pauseAfterFailureMs = 10_000
const maxAssets = 1_000
const maxRemembered = 50_000
const maxResponseBytes = 512 * 1024

/** As `PriceString` and `EvmPrices` of spec/openrpc.json. */
const pricePattern = /^(?:0|[1-9][0-9]{0,29})(?:[.][0-9]{1,36})?$/
const currencyPattern = /^[A-Z0-9]{2,12}$/

/** A price as it was named; without `price` the host knows none. */
interface Quote {
  readonly currency: string
  readonly price?: string
  readonly atMs: number
}

/**
 * Puts bounds around a host's source of prices: time, size, and one question a minute for each asset.
 *
 * @param options.source - a function of the host's, or the URL of its service.
 */
export function createPrices(options: {
  readonly source: ReadPrices | string
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly clock: Clock
}): Prices {
  const { logger, clock } = options
  const ask = typeof options.source === 'string' ? askByHttp(options.source) : options.source
  const remembered = new BoundedMap<string, Quote>(maxRemembered)
  let failedAtMs = Number.NEGATIVE_INFINITY
  let isFailing = false

  /** @returns absent where the host could not be asked, or named nothing that can be used. */
  async function askHost(
    assets: readonly PricedAsset[],
    budgetMs: number,
    signal: AbortSignal
  ): Promise<ReturnType<typeof readAnswer> | undefined> {
    if (clock.now() - failedAtMs < pauseAfterFailureMs) return undefined
    const timeoutMs = Math.min(longestWaitMs, budgetMs)
    try {
      const answer = await withDeadline({ timeoutMs, signal }, async inTime =>
        ask(assets, { signal: inTime })
      )
      const found = readAnswer(answer, assets, clock.now())
      for (const [key, quote] of found.quotes) remembered.set(key, quote)
      if (isFailing) logger.info('prices answer again')
      isFailing = false
      return found
    } catch (error) {
      signal.throwIfAborted()
      failedAtMs = clock.now()
      if (!isFailing)
        logger.warn('prices fail, holdings are answered without them', { problem: problemOf(error) })
      isFailing = true
      return undefined
    }
  }

  return {
    async read(all, { budgetMs, signal }) {
      const assets = all.slice(0, maxAssets)
      const quotes = new Map<string, Quote>()
      const oldestMs = clock.now() - freshForMs
      for (const key of assets.map(keyOf)) {
        const quote = remembered.get(key)
        if (quote !== undefined && quote.atMs > oldestMs) quotes.set(key, quote)
      }
      const open = assets.filter(asset => !quotes.has(keyOf(asset)))
      const found = open.length === 0 ? noQuotes : await askHost(open, budgetMs, signal)
      for (const [key, quote] of found?.quotes ?? []) quotes.set(key, quote)
      return toFound(quotes, all.length === assets.length && found?.isComplete === true)
    }
  }

  function toFound(quotes: ReadonlyMap<string, Quote>, isComplete: boolean): FoundPrices {
    const newest = [...quotes.values()].reduce<Quote | undefined>(
      (best, quote) => (best === undefined || quote.atMs > best.atMs ? quote : best),
      undefined
    )
    // A host that has changed its currency a moment ago: amounts in two of them must not be added up.
    const usable = [...quotes].filter(([, { currency }]) => currency === newest?.currency)
    const prices = new Map(usable.map(([key, { price }]) => [addressIn(key), price]))
    return {
      ...(newest !== undefined && {
        quote: {
          currency: newest.currency,
          timestampSeconds: Math.floor(Math.min(...usable.map(([, { atMs }]) => atMs)) / 1000)
        }
      }),
      priceOf: address => prices.get(address ?? ''),
      isComplete: isComplete && usable.length === quotes.size
    }
  }
}

const noQuotes = { quotes: new Map<string, Quote>(), isComplete: true }

function keyOf({ chainId, address = '' }: PricedAsset): string {
  return `${chainId} ${address.toLowerCase()}`
}

function addressIn(key: string): string {
  return key.slice(key.indexOf(' ') + 1)
}

/** What is wrong with an answer of the host, in words of ours. */
class AnswerMistake extends Error {}

/**
 * Reads an answer, whose author may write without types. A price that is none, or that is named twice, is left out; prices of
 * other assets are ignored.
 *
 * @throws {AnswerMistake} nothing of it can be used.
 */
function readAnswer(answer: NamedPrices | undefined, asked: readonly PricedAsset[], atMs: number) {
  const { currency, prices } = Object(answer) as Partial<Record<keyof NamedPrices, unknown>>
  if (typeof currency !== 'string' || !currencyPattern.test(currency)) {
    throw new AnswerMistake('currency of the answer is no code; expected such as "USD"')
  }
  if (!Array.isArray(prices) || prices.length > maxAssets) {
    throw new AnswerMistake(
      `prices of the answer are no list of at most ${maxAssets} { chainId, address, price }`
    )
  }
  const quotes = new Map<string, Quote>(asked.map(asset => [keyOf(asset), { currency, atMs }]))
  const named = new Set<string>()
  let isComplete = true
  for (const entry of prices) {
    const { chainId, address, price } = Object(entry) as Record<string, unknown>
    const key = `${chainId} ${typeof address === 'string' ? address.toLowerCase() : ''}`
    const isText = address === undefined || address === null || typeof address === 'string'
    if (!isText || (!quotes.has(key) && !named.has(key))) continue
    const isPrice = price === null || (typeof price === 'string' && pricePattern.test(price))
    if (named.has(key) || !isPrice) {
      quotes.delete(key)
      isComplete = false
    } else if (price !== null) quotes.set(key, { currency, atMs, price })
    named.add(key)
  }
  return { quotes, isComplete }
}

/** Asks a URL of the host's. It is the operator's own choice, as those of nodes are, so it may be private. */
function askByHttp(url: string): ReadPrices {
  const upstream = createHttpUpstream({ url, position: 1, name: 'metadata.prices', maxResponseBytes })
  return async (assets, { signal }) => {
    const { status, body } = await upstream.post(JSON.stringify(assets), signal)
    if (status !== 200) throw new AnswerMistake(`it answered HTTP ${status}`)
    try {
      return JSON.parse(Buffer.concat(body).toString('utf8'))
    } catch {
      throw new AnswerMistake('its answer is no JSON')
    }
  }
}

/** Not the message of a host's own error, which may hold its keys. */
function problemOf(error: unknown): string {
  if (error instanceof DeadlineError) return 'no answer in time'
  if (error instanceof AnswerMistake || error instanceof ChainDataError) return error.message
  return error instanceof Error ? error.name : 'it threw no error'
}
