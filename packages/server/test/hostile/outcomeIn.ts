import type { EvmHoldings } from '@chain-data/protocol'
import type { HostileOutcome } from '../../../devnet/src/evm/hostile/HostileToken.ts'

/** What an answer says of one contract, in the words of the catalogue: only the documented fields. */
export function outcomeIn(answer: EvmHoldings, address: string): HostileOutcome {
  const token = answer.tokens.find(item => item.address === address)
  const nfts = answer.nfts.filter(item => item.address === address)
  const incomplete = (answer.incomplete ?? []).filter(item => item.address === address)
  return {
    ...(token && {
      token: {
        amount: BigInt(token.amount),
        decimals: token.decimals,
        name: token.name,
        symbol: token.symbol
      }
    }),
    nfts: nfts.map(({ tokenId, tokenBalance, isSemiFungible, tokenURI, name, symbol, data, image }) => ({
      tokenId: BigInt(tokenId),
      balance: BigInt(tokenBalance),
      isSemiFungible,
      tokenUri: tokenURI,
      name,
      symbol,
      data: data as Readonly<Record<string, unknown>>,
      image
    })),
    incomplete: incomplete.map(({ tokenId, reason }) =>
      tokenId === undefined ? { reason } : { tokenId: BigInt(tokenId), reason }
    )
  }
}
