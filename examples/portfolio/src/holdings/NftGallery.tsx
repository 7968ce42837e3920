import { useState } from 'react'
import { shownInteger } from '../shared/formatAmount.ts'
import { SafeImage } from '../shared/SafeImage.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import type { NftView } from './HoldingsView.ts'
import { NftDialog } from './NftDialog.tsx'
import { nftName } from './nftName.ts'
import { SpamBadge } from './SpamBadge.tsx'

/** Cards are made in portions: a whale has thousands. */
const portion = 60

/** In place of the collection, where there is something to say. */
const captions = { read: undefined, unavailable: 'metadata failed', none: 'no metadata' }

/** Pictures of NFTs, each a button that opens its details. */
export function NftGallery({ nfts }: { nfts: readonly NftView[] }) {
  const [shown, setShown] = useState(portion)
  const [openKey, setOpenKey] = useState<string>()
  const open = nfts.find(({ key }) => key === openKey)
  return (
    <>
      <ul className="gallery">
        {nfts.slice(0, shown).map(nft => (
          <li key={nft.key}>
            <button type="button" className="nft" aria-haspopup="dialog" onClick={() => setOpenKey(nft.key)}>
              <SafeImage image={nft.image} name={nft.name || nft.symbol} shape="square" />
              <SpamBadge spam={nft.spam} />
              <span className="nftText">
                <SafeText className="nftName" text={nftName(nft)} limit={40} />
                <span className="quiet tiny nftKind">
                  <SafeText text={captions[nft.metadata] ?? (nft.symbol || nft.standard)} limit={24} />
                  {nft.amount > 1n && <span className="count">×{shownInteger(nft.amount)}</span>}
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
      {shown < nfts.length && (
        <button type="button" className="button" onClick={() => setShown(shown + portion)}>
          Show more ({shownInteger(nfts.length - shown)} left)
        </button>
      )}
      {open !== undefined && <NftDialog nft={open} onClose={() => setOpenKey(undefined)} />}
    </>
  )
}
