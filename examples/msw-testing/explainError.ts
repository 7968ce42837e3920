import { ChainDataClientError, hasReason } from '@chain-data/client'

/**
 * What a person is told when a call failed, and whether trying again makes sense.
 *
 * @throws The error itself where it is none of the client's: that is a mistake in the program.
 */
export function explainError(error: unknown): { readonly words: string; readonly canRetry: boolean } {
  if (!(error instanceof ChainDataClientError)) throw error
  return { words: wordsFor(error), canRetry: error.retryable }
}

function wordsFor(error: ChainDataClientError): string {
  if (hasReason(error, 'NOT_SYNCED')) return 'The index is still being built. Nothing is missing for good.'
  if (hasReason(error, 'UNSUPPORTED_CHAIN')) return 'This chain is not served here.'
  if (hasReason(error, 'UNAUTHENTICATED')) return 'The key of this application is not valid any longer.'
  if (hasReason(error, 'RATE_LIMITED')) return `Too many questions: again in ${seconds(error.retryAfterMs)}.`
  switch (error.code) {
    case 'RPC':
      return `The service refused: ${error.reason ?? error.message}.`
    case 'PROTOCOL':
      return 'What answered is not the service. A login page of the network, perhaps?'
    case 'CONFIGURATION':
      return 'This application is set up wrongly.'
    case 'TIMEOUT':
      return 'The service took too long.'
    case 'ABORTED':
      return 'Stopped.'
    default:
      return 'The service cannot be reached.'
  }
}

function seconds(ms = 0): string {
  return `${Math.ceil(ms / 1_000)} s`
}
