import type { SolanaRpc } from '../../nodes/solana/rpc.ts'
import { ChainDataError } from '../../platform/errors.ts'
import type { IncompleteHolding, NftSource, NftSourceQuery, ReadNfts } from '../holdings/holdings.ts'
import { createDasPages, readCompressedNfts } from './readCompressedNfts.ts'
import { readCoreNfts } from './readCoreNfts.ts'

/** Name of a source, for the log. */
type NftSourceName = 'Metaplex Core' | 'DAS'

/**
 * The sources of NFTs without token accounts that a cluster's configuration asks for.
 *
 * @param options.openRpc - called for a source that reads from the cluster's nodes. It gets a view of them of its own: a
 *   node that limits the rate of its heavy call must not be left alone for all others too.
 * @param options.dasUrl - null: compressed NFTs are not read.
 * @param options.onChange - called when a source begins to fail, and without a failure when it answers again.
 * @throws {ConfigError} `dasUrl` cannot be used.
 */
export function createNftSources(options: {
  readonly openRpc: () => SolanaRpc
  readonly mplCore: boolean
  readonly dasUrl: string | null
  readonly onChange: (name: NftSourceName, failure: ChainDataError | undefined) => void
}): readonly NftSource[] {
  const { openRpc, mplCore, dasUrl, onChange } = options
  const sources: NftSource[] = []
  if (mplCore) {
    const rpc = openRpc()
    sources.push(
      createNftSource({
        read: query => readCoreNfts(rpc, query),
        unavailable: 'MPL_CORE_UNAVAILABLE',
        onChange: failure => onChange('Metaplex Core', failure)
      })
    )
  }
  if (dasUrl !== null) {
    const pages = createDasPages({ url: dasUrl })
    sources.push(
      createNftSource({
        read: query => readCompressedNfts(pages, query),
        unavailable: 'COMPRESSED_UNAVAILABLE',
        onChange: failure => onChange('DAS', failure)
      })
    )
  }
  return sources
}

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
