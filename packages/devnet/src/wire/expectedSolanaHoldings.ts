import type { SolanaHoldings, SolanaNft } from '@chain-data/client'
import type { SolanaMint, SolanaWorld } from '../solana/SolanaWorld.ts'
import { describedBy, type SolanaHoldingTruth, solanaHoldingsOf } from '../solana/solanaTruth.ts'
import { expectedImage } from './expectedImage.ts'

/** Holdings with their 64-bit numbers as bigints, as an exact reader of the JSON sees them. */
export type ExpectedSolanaHoldings = Omit<SolanaHoldings<bigint>, 'asOf'>

/**
 * What a service must answer for an owner, made from the truth alone; lists in no particular order, but for `incomplete`.
 *
 * @param ownerName - Name in the world.
 * @param options.parseMetadataUri - As asked of the service; it then has to be allowed to read the metadata host.
 * @param options.origin - Of the metadata host.
 */
export function expectedSolanaHoldings(
  world: SolanaWorld,
  ownerName: string,
  options: { parseMetadataUri: boolean; origin: string }
): ExpectedSolanaHoldings {
  const { parseMetadataUri, origin } = options
  const { lamports, tokens, nfts, damaged, damagedAccounts } = solanaHoldingsOf(world, ownerName)
  const incomplete = [
    ...damaged.map(incompleteMint),
    ...damagedAccounts.map(({ address }) => ({ address, reason: 'BALANCE_UNREADABLE' }))
  ]
  const jsonOf = (holding: SolanaHoldingTruth) => (parseMetadataUri ? holding.document?.json : undefined)
  return {
    lamports,
    lamportsString: lamports.toString(),
    tokens: tokens.map(holding => ({
      decimals: holding.mint.decimals,
      amount: holding.account.amount,
      amountString: holding.account.amount.toString(),
      address: holding.account.address,
      mint: holding.mint.address,
      name: holding.name,
      symbol: holding.symbol,
      image: expectedImage(jsonOf(holding), origin),
      ...holding.mint.uiAmount
    })),
    nfts: nfts.map(holding => ({
      mint: holding.mint.address,
      address: holding.account.address,
      ...(holding.mint.kind === 'semiFungible'
        ? { isSemiFungible: true, amountString: holding.account.amount.toString() }
        : { isSemiFungible: false }),
      name: holding.name,
      symbol: holding.symbol,
      image: expectedImage(jsonOf(holding), origin),
      sellerFeeBasisPoints: describedBy(holding.mint).metaplex?.sellerFeeBasisPoints ?? 0,
      metadata: expectedMetadata(holding, jsonOf(holding))
    })),
    ...(incomplete.length === 0 ? {} : { incomplete: incomplete.sort(byAddress) })
  }
}

type SolanaIncomplete = NonNullable<SolanaHoldings['incomplete']>[number]

function incompleteMint({ address, damage }: SolanaMint): SolanaIncomplete {
  return { address, reason: damage === 'mint' ? 'MINT_UNREADABLE' : 'METADATA_UNREADABLE' }
}

function byAddress(a: SolanaIncomplete, b: SolanaIncomplete): number {
  return a.address < b.address ? -1 : 1
}

function expectedMetadata(
  { mint, name, symbol, uri }: SolanaHoldingTruth,
  uriData: Record<string, unknown> | undefined
): SolanaNft['metadata'] {
  const { metaplex, extension } = describedBy(mint)
  const data = {
    ...{ name, symbol, uri },
    sellerFeeBasisPoints: metaplex?.sellerFeeBasisPoints ?? 0,
    creators: metaplex?.creators ?? [],
    ...(uriData === undefined ? {} : { uriData })
  }
  if (metaplex === undefined) {
    // An extension knows neither sale nor edition; whoever may update it makes it mutable.
    const updateAuthority = extension?.updateAuthority
    const mutable = { isMutable: updateAuthority !== undefined }
    return {
      ...(updateAuthority === undefined ? {} : { updateAuthority }),
      mint: mint.address,
      data,
      ...mutable
    }
  }
  const { updateAuthority, primarySaleHappened, isMutable, editionNonce } = metaplex
  return {
    key: 4,
    ...{ updateAuthority, mint: mint.address, data, primarySaleHappened, isMutable },
    ...(editionNonce === undefined ? {} : { editionNonce })
  }
}
