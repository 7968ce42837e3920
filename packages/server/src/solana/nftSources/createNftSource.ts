import { ChainDataError } from '@chain-data/index'
import type { IncompleteHolding, NftSource, NftSourceQuery, ReadNfts } from '../holdings/holdings.ts'

/** Reads as a source does, but may fail. */
type NftReader = (query: NftSourceQuery) => Promise<ReadNfts>

interface NftSourceOptions {
  readonly read: NftReader
  /** Names the whole source under `incomplete`, with the account's address, when `read` fails. */
  readonly unavailable: IncompleteHolding['reason']
  /** Called when the source begins to fail, and with `undefined` when it answers again: not once per call. */
  readonly onChange?: ((failure: ChainDataError | undefined) => void) | undefined
}

/** Maximum wait for one source. */
const maxWaitMs = 10_000

/**
 * Turns a reader that may fail into a source that does not.
 *
 * @remarks The reader gets at most 10 s and at most half of the time that the call has left, so that a source that
 *   hangs leaves enough for the rest of the answer.
 */
export function createNftSource({ read, unavailable, onChange }: NftSourceOptions): NftSource {
  let isFailing = false

  function report(failure: ChainDataError | undefined): void {
    if (isFailing === (failure !== undefined)) return
    isFailing = failure !== undefined
    onChange?.(failure)
  }

  return async query => {
    const now = Date.now()
    const deadlineMs = now + Math.min(maxWaitMs, Math.max(0, query.deadlineMs - now) / 2)
    try {
      const { failure, ...found } = await read({ ...query, deadlineMs })
      report(failure)
      return found
    } catch (error) {
      query.signal.throwIfAborted()
      if (!(error instanceof ChainDataError)) throw error
      report(error)
      return { nfts: [], incomplete: [{ address: query.accountAddress, reason: unavailable }] }
    }
  }
}
