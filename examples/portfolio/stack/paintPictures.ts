import type { MetadataHost } from '@chain-data/devnet'
import { drawPicture } from './drawPicture.ts'

/** What the metadata of the devnet's NFTs points to, by path, with a colour for each. */
const pictures: Readonly<Record<string, number>> = {
  '/evm/art/1.svg': 18,
  '/evm/items/1.svg': 205,
  '/evm/items/2.svg': 130,
  '/evm/items/2748.svg': 285,
  '/solana/1.svg': 262
}

/** Gives NFTs pictures worth looking at in place of the devnet's plain labels; their addresses stay. */
export function paintPictures(metadata: MetadataHost): void {
  for (const [path, hue] of Object.entries(pictures)) {
    metadata.put(path, { status: 200, contentType: 'image/png', body: drawPicture(hue, 480) })
  }
}
