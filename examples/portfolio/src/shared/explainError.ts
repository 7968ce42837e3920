import { ChainDataClientError, type ErrorReason, hasReason, TransportError } from '@chain-data/client/fetch'
import type { ReadingProgress } from '@chain-data/client/history'
import { chainById } from '../config.ts'
import { shownInteger } from './formatAmount.ts'

/** What a person is told when something could not be read. */
export interface Explanation {
  title: string
  text: string
  /** Whether asking again by itself, after a while, makes sense. */
  passes: boolean
  /** Whether it concerns all that the service says of the chain: then it is told once. */
  concernsAll: boolean
  /** Nothing has failed: it is being read, and takes longer than one call. */
  isReading?: true
}

/** Says what a failed call means, by the client's reasons; the text of an error is never shown as it is. */
export function explainError(error: unknown, chainId: number): Explanation {
  const { name } = chainById(chainId)
  if (hasReason(error, 'UNSUPPORTED_CHAIN')) {
    const served = error.data.supportedChainIds.map(id => `${chainById(id).name} (${id})`).join(', ')
    return {
      title: `The service does not serve ${name}`,
      text:
        served === ''
          ? 'It serves no chain of this kind.'
          : `It serves ${served}. Choose one of these above.`,
      passes: false,
      concernsAll: true
    }
  }
  if (hasReason(error, 'NOT_SYNCED')) {
    const { indexedTo, head } = error.data
    const far =
      head === undefined
        ? 'The node has not been reached yet.'
        : `${shownInteger(indexedTo === undefined ? 0 : indexedTo + 1)} of ${shownInteger(head + 1)} blocks are read.`
    return {
      title: `${name} is being read for the first time`,
      text: `${far} This page goes on by itself when it is done.`,
      passes: true,
      concernsAll: true
    }
  }
  if (hasReason(error, 'STILL_READING')) {
    return {
      ...readingWords(error.data.progress),
      passes: true,
      concernsAll: false,
      isReading: true
    }
  }
  if (hasReason(error, 'FORBIDDEN_ORIGIN')) {
    return {
      title: 'The key does not work from this address',
      text: `The service allows this key to other origins than ${location.origin}. Whoever runs the service can add it to the key’s list.`,
      passes: false,
      concernsAll: true
    }
  }
  const [, told] =
    Object.entries(byReason(name)).find(([reason]) => hasReason(error, reason as ErrorReason)) ?? []
  if (told !== undefined) return told
  if (error instanceof TransportError) {
    return {
      title: error.code === 'TIMEOUT' ? 'The service takes too long' : 'The service cannot be reached',
      text: 'It may be down, or you may be offline. This page tries again by itself.',
      passes: true,
      concernsAll: true
    }
  }
  const known = error instanceof ChainDataClientError
  const id = known && error.requestId !== undefined ? ` The host finds it under ${error.requestId}.` : ''
  return {
    title: 'Something went wrong',
    text: `${known && error.code === 'PROTOCOL' ? 'What answered is not this service.' : 'The service could not answer.'}${id}`,
    passes: known && error.retryable,
    concernsAll: false
  }
}

/** What is told of reasons whose data says nothing more. @param name - Of the chain. */
function byReason(name: string): Partial<Record<ErrorReason, Explanation>> {
  const unavailable = {
    title: `${name} cannot be read right now`,
    text: 'The service runs, but its node does not answer well. This page tries again by itself.',
    passes: true,
    concernsAll: false
  }
  const tooMuch = {
    title: 'This account has more than the service gives at once',
    text: 'The host limits how long an answer may be.',
    passes: false,
    concernsAll: false
  }
  return {
    HISTORY_UNPROVABLE: {
      title: 'Older history cannot be proven',
      text: 'The service only shows histories of which nothing can be missing, and the older part of this one cannot be found completely from its node.',
      passes: false,
      concernsAll: false
    },
    UPSTREAM_UNAVAILABLE: unavailable,
    OVERLOADED: unavailable,
    RATE_LIMITED: {
      title: 'Too many questions at once',
      text: 'The service asks for a pause. This page tries again by itself.',
      passes: true,
      concernsAll: true
    },
    UNAUTHENTICATED: {
      title: 'The service does not know this page’s key',
      text: 'The client key was revoked, or the page was built with another one. Whoever runs the page has to build it with a key that is in force.',
      passes: false,
      concernsAll: true
    },
    RESPONSE_TOO_LARGE: tooMuch,
    TOO_MANY_RESULTS: tooMuch,
    INVALID_PARAMS: {
      title: 'The service does not take this address',
      text: 'Check that it belongs to the chosen chain.',
      passes: false,
      concernsAll: false
    },
    CURSOR_REORGED: {
      title: 'The chain has just replaced its newest blocks',
      text: 'What was read may have moved (a reorg). This page tries again by itself.',
      passes: true,
      concernsAll: false
    },
    METHOD_NOT_FOUND: {
      title: 'The service does not offer this',
      text: 'This host has left it out.',
      passes: false,
      concernsAll: false
    }
  }
}

/** Says how far the service is with reading older history. */
export function readingWords({ percent, reachedBlock, expectedMs }: ReadingProgress) {
  const left = expectedMs === undefined ? '' : `, ${shownTime(expectedMs)} left`
  return {
    title: `Older history is being read: ${percent} %${left}`,
    text: `Everything from block ${shownInteger(reachedBlock)} on is known. This page goes on by itself.`
  }
}

function shownTime(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  return seconds < 90 ? `about ${seconds} s` : `about ${Math.round(seconds / 60)} minutes`
}
