import type { SolanaHoldings, SolanaNft, SolanaToken } from '@chain-data/client/fetch'
import type { HoldingsView, TokenView } from './HoldingsView.ts'
import { readMetadata } from './readMetadata.ts'

/** Holdings of a Solana account as the page shows them. The client writes exact digits beside every number. */
export function toSolanaView({
  lamports,
  lamportsString,
  tokens,
  nfts,
  asOf,
  incomplete = []
}: SolanaHoldings): HoldingsView {
  return {
    native: BigInt(lamportsString ?? lamports),
    tokens: byMint(tokens),
    nfts: nfts.map(nft => {
      const { uri, uriData } = nft.metadata.data
      return {
        ...{ key: nft.address, name: nft.name, symbol: nft.symbol, token: nft.mint, image: nft.image },
        ...{ amount: BigInt(nft.amountString ?? 1), standard: standardOf(nft) },
        ...readMetadata(uriData ?? {}),
        // Without an address, what is on chain is all there is.
        metadata: uriData !== undefined || uri === '' ? 'read' : 'unavailable'
      }
    }),
    ...(asOf !== undefined && { asOf: { block: asOf.slot } }),
    incomplete
  }
}

/** One row for each mint, with the accounts that it lies in. */
function byMint(tokens: readonly SolanaToken[]): TokenView[] {
  const rows = new Map<string, TokenView>()
  for (const token of tokens) {
    const { mint, address, name, symbol, decimals, image } = token
    const amount = BigInt(token.amountString ?? token.amount)
    const { amount: sum = 0n, accounts = [] } = rows.get(mint) ?? {}
    const note = noteOf(token)
    rows.set(mint, {
      ...{ key: mint, name, symbol, decimals, token: mint, image },
      ...{ amount: sum + amount, accounts: [...accounts, { address, amount }] },
      ...(note !== undefined && { note })
    })
  }
  return [...rows.values()]
}

function standardOf({ assetStandard, isSemiFungible }: SolanaNft): string {
  if (assetStandard === 'MplCore') return 'Metaplex Core'
  if (assetStandard === 'Compressed') return 'Compressed NFT'
  return isSemiFungible ? 'Semi-fungible' : 'NFT'
}

function noteOf({ scaledUiAmount, interestBearing }: SolanaToken): string | undefined {
  if (scaledUiAmount !== undefined) return 'Held amount; wallets multiply it by a factor that the token sets.'
  if (interestBearing !== undefined) return 'Held amount; wallets show it with interest.'
  return undefined
}
