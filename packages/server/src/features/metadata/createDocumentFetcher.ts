import { lostRace, raceStaggered } from '../../platform/concurrency/race.ts'
import { MetadataError } from '../../platform/errors.ts'
import { verifyContent } from './cid.ts'
import { type Document, type FetchedText, pictureBody, pictureDocument } from './documents.ts'
import type { FetchQueue, Work } from './FetchQueue.ts'
import type { GuardedFetch } from './guardedFetch.ts'
import type { HostHealth } from './hostHealth.ts'
import { isOurs, isThrottled, metadataFailure } from './metadataFailure.ts'
import { charsetOf, readJsonObject, toUtf8, weighObject } from './readJsonObject.ts'
import type { RemoteAddress } from './resolveUri.ts'

export interface DocumentFetcherOptions {
  readonly guardedFetch: GuardedFetch
  readonly queue: FetchQueue
  readonly health: HostHealth
  /** Delay after which the next gateway is asked, too. */
  readonly staggerMs: number
  /** As many as the queue lets run at one host: a host with more to do comes later. */
  readonly perHost: number
  /** Told of every request: `ok`, `overtaken` or the reason of its failure in lower case. */
  readonly onFetched: (outcome: string, bytes: number) => void
}

/**
 * @throws {MetadataError} BUSY or ABORTED: it was not really tried. STATUS 429: every host that was asked wants a pause.
 *   Anything else says that the address gives nothing.
 */
export type FetchDocument = (
  address: RemoteAddress,
  work: Work,
  signal: AbortSignal
) => Promise<Document & FetchedText>

/** Fetches a JSON object from the first of its URLs that gives it, and holds it against its content address. */
export function createDocumentFetcher(options: DocumentFetcherOptions): FetchDocument {
  const { guardedFetch, queue, health, staggerMs, perHost, onFetched } = options

  async function fetchFrom(url: string, { cid }: RemoteAddress, signal: AbortSignal): Promise<Fetched> {
    const { body, contentType } = await guardedFetch(url, { signal })
    const proof = cid === undefined ? 'open' : verifyContent(cid, body)
    const isProven = proof === 'proven'
    if (proof === 'refuted') throw metadataFailure('CONTENT', 'Not the content of its address', url)
    const text = toUtf8(body, charsetOf(contentType))
    try {
      const data = readJsonObject(text)
      return { data, body: text, weight: weighObject(data, text.length), isProven }
    } catch (error) {
      if (!contentType.startsWith('image/')) throw error
      return { ...pictureDocument, body: pictureBody, isProven }
    }
  }

  /** Hosts that serve well and have little to do come first; else the given order. */
  function inOrder(urls: readonly string[]): readonly string[] {
    const rank = (url: string) => {
      const host = hostOf(url)
      return (health.isLast(host) ? 1_000_000 : 0) + Math.floor(queue.load(host) / perHost)
    }
    return urls
      .map(url => ({ url, rank: rank(url) }))
      .sort((a, b) => a.rank - b.rank)
      .map(({ url }) => url)
  }

  return async (address, work, signal) => {
    const urls = inOrder(address.urls)
    try {
      return await raceStaggered({
        contenders: urls.map(url => (raceSignal, onStart) => {
          const host = hostOf(url)
          const start = async () => {
            health.requireAwake(host, url)
            onStart()
            try {
              const fetched = await fetchFrom(url, address, raceSignal)
              health.succeeded(host)
              onFetched('ok', fetched.body.length)
              return fetched
            } catch (error) {
              if (!raceSignal.aborted) health.failed(host, error, url)
              onFetched(raceSignal.reason === lostRace ? 'overtaken' : outcomeOf(error), 0)
              throw error
            }
          }
          return work.run(host, start, raceSignal)
        }),
        staggerMs,
        signal,
        // Where a proof is possible it is waited for, as long as there is another gateway to ask.
        isFinal: ({ isProven }) => isProven || address.cid === undefined,
        onOvertaken: index => health.overtaken(hostOf(urls[index] ?? ''))
      })
    } catch (error) {
      throw error instanceof AggregateError ? worstOf(error.errors) : error
    }
  }
}

type Fetched = Document & FetchedText

/** Hosts share their limit whatever their scheme; a text that is no URL fails in the fetch. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : ''
}

function outcomeOf(error: unknown): string {
  return error instanceof MetadataError ? String(error.context.reason).toLowerCase() : 'internal'
}

/** Chooses the failure to report: own overload first, since the document may be there; a host that wants a pause last. */
function worstOf(failures: readonly unknown[]): unknown {
  return failures.find(isOurs) ?? failures.find(failure => !isThrottled(failure)) ?? failures[0]
}
