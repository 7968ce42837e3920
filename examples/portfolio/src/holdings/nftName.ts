import { cutText } from '../shared/cutText.ts'
import type { NftView } from './HoldingsView.ts'

/** What an NFT is called on the page: by the name in its metadata, else by its collection and id. */
export function nftName({ name, symbol, tokenId, standard, metadata }: NftView): string {
  const known = cutText(name, 40)
  if (known !== '' && (metadata === 'read' || tokenId === undefined)) return name
  const id =
    tokenId === undefined
      ? ''
      : ` #${tokenId.length > 12 ? `${tokenId.slice(0, 5)}…${tokenId.slice(-4)}` : tokenId}`
  return `${known || cutText(symbol, 16) || standard}${id}`
}
