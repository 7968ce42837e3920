import type { EvmHoldings } from '@chain-data/client/fetch'
import { computeValue } from './computeValue.ts'
import type { HoldingsView } from './HoldingsView.ts'
import { readMetadata } from './readMetadata.ts'

/** Holdings of an EVM account as the page shows them. */
export function toEvmView({
  native,
  name,
  prices,
  tokens,
  nfts,
  asOf,
  incomplete = []
}: EvmHoldings): HoldingsView {
  const nativeValue = computeValue(BigInt(native), 18, prices?.native)
  return {
    native: BigInt(native),
    ...(name !== undefined && { name }),
    ...(prices !== undefined && { currency: prices.currency }),
    ...(nativeValue !== undefined && { nativeValue }),
    tokens: tokens.map(({ address, name, symbol, decimals, amount, image, spam, price }) => ({
      ...{ key: address, name, symbol, amount: BigInt(amount), token: address, image },
      ...(isDecimals(decimals) && { decimals, ...withValue(computeValue(BigInt(amount), decimals, price)) }),
      ...(spam !== undefined && { spam })
    })),
    nfts: nfts.map(nft => ({
      ...{ key: `${nft.address} ${nft.tokenId}`, name: nft.name, symbol: nft.symbol, token: nft.address },
      ...{ tokenId: nft.tokenId, amount: BigInt(nft.tokenBalance), image: nft.image },
      standard: nft.isSemiFungible ? 'ERC-1155' : 'ERC-721',
      ...readMetadata(nft.data),
      metadata: Object.keys(nft.data).length > 0 ? 'read' : nft.tokenURI === '' ? 'none' : 'unavailable',
      ...(nft.spam !== undefined && { spam: nft.spam })
    })),
    ...(asOf !== undefined && { asOf: { block: asOf.blockNumber, seconds: asOf.timestamp } }),
    incomplete
  }
}

function withValue(value: bigint | undefined): { value?: bigint } {
  return value === undefined ? {} : { value }
}

/** This service leaves others out; another host may not. */
function isDecimals(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 255
}
