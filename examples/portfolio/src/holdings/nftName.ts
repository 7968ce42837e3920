import { cutText } from '../shared/cutText.ts'
import type { NftView } from './HoldingsView.ts'

/** What an NFT is called on the page: by its name, else by its collection and id. */
export function nftName({ name, symbol, tokenId, standard }: NftView): string {
  if (cutText(name, 40) !== '') return name
  const id = tokenId === undefined ? '' : ` #${tokenId}`
  return `${cutText(symbol, 16) || standard}${id}`
}
