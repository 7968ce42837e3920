import type { AssetMetadata } from '../accounts/assetMetadata.ts'
import type { Mint } from '../accounts/tokenAccount.ts'

type AssetClass = 'nft' | 'semiFungible' | 'token'

/**
 * Sorts an asset into its list. The Metaplex token standard decides; where it is unset (old assets, Token-2022 metadata)
 * whole units with metadata make it an NFT when there is one of it, semi-fungible when there are more. Without
 * metadata everything is a token.
 */
export function classifyAsset({ decimals, supply }: Mint, metadata: AssetMetadata | undefined): AssetClass {
  if (metadata === undefined) return 'token'
  switch (metadata.kind === 'metaplex' ? metadata.tokenStandard : undefined) {
    case 'NonFungible':
    case 'NonFungibleEdition':
    case 'ProgrammableNonFungible':
    case 'ProgrammableNonFungibleEdition':
      return 'nft'
    case 'FungibleAsset':
      return 'semiFungible'
    case 'Fungible':
      return 'token'
    case undefined:
      if (decimals !== 0 || supply === 0n) return 'token'
      return supply === 1n ? 'nft' : 'semiFungible'
  }
}
