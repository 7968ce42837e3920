import { ChainDataClientError } from '../../src/index.ts'

/** The error of a promise that must reject with one of ours. */
export async function caught(promise: Promise<unknown>): Promise<ChainDataClientError> {
  const outcome = await promise.then(
    value => ({ value }),
    (error: unknown) => ({ error })
  )
  if (!('error' in outcome)) throw new Error(`expected a rejection, got ${JSON.stringify(outcome.value)}`)
  if (outcome.error instanceof ChainDataClientError) return outcome.error
  throw new Error(`expected an error of the client, got ${String(outcome.error)}`)
}
