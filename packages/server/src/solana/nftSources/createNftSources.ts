import type { ChainDataError } from '@chain-data/index'
import type { SolanaRpc } from '../../nodes/solana/rpc.ts'
import type { NftSource } from '../holdings/holdings.ts'
import { createNftSource } from './createNftSource.ts'
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
