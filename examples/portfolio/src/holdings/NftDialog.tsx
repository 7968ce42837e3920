import { CopyButton } from '../shared/CopyButton.tsx'
import { Dialog } from '../shared/Dialog.tsx'
import { Fact } from '../shared/Fact.tsx'
import { shownInteger } from '../shared/formatAmount.ts'
import { Icon } from '../shared/Icon.tsx'
import { SafeImage } from '../shared/SafeImage.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { ShortAddress } from '../shared/ShortAddress.tsx'
import type { NftView } from './HoldingsView.ts'
import { nftName } from './nftName.ts'
import { spamReasons } from './reasons.ts'

const metadataWords = {
  read: undefined,
  unavailable: 'Its metadata could not be read from where the token says it is.',
  none: 'The token names no metadata.'
}

/** Everything known of one NFT. What strangers wrote is text: their links can be copied, not followed. */
export function NftDialog({ nft, onClose }: { nft: NftView; onClose: () => void }) {
  const missing = metadataWords[nft.metadata]
  return (
    <Dialog title={nftName(nft)} titleLimit={120} onClose={onClose}>
      <SafeImage image={nft.image} name={nft.name || nft.symbol} shape="square" />
      {nft.spam !== undefined && nft.spam.verdict !== 'ok' && (
        <p className="waiting spamWords">
          <Icon name="flag" /> Looks like {nft.spam.verdict === 'spam' ? 'spam' : 'it may be spam'}:{' '}
          {spamReasons(nft.spam.reasons)}.
        </p>
      )}
      {missing !== undefined && <p className="quiet">{missing}</p>}
      {nft.description !== '' && (
        <p className="description">
          <SafeText text={nft.description} limit={1000} />
        </p>
      )}
      <dl className="facts">
        {nft.symbol !== '' && (
          <Fact name="Collection">
            <SafeText text={nft.symbol} limit={60} />
          </Fact>
        )}
        <Fact name={nft.tokenId === undefined ? 'Mint' : 'Contract'}>
          <ShortAddress address={nft.token} label={nft.tokenId === undefined ? 'mint' : 'contract address'} />
        </Fact>
        {nft.tokenId !== undefined && (
          <Fact name="Token id">
            <span className="wrap">{nft.tokenId}</span> <CopyButton text={nft.tokenId} label="token id" />
          </Fact>
        )}
        <Fact name="Standard">{nft.standard}</Fact>
        <Fact name="Held">{shownInteger(nft.amount)}</Fact>
        {nft.links.map(([label, url]) => (
          <Fact key={label} name={label}>
            <SafeText className="wrap" text={url} limit={200} /> <CopyButton text={url} label={label} />
          </Fact>
        ))}
      </dl>
      {nft.attributes.length > 0 && (
        <>
          <h3>Attributes</h3>
          <dl className="facts">
            {nft.attributes.map(([name, value], at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: names repeat, and the list never changes its order.
              <Fact key={at} name={<SafeText text={name} limit={40} />}>
                <SafeText className="wrap" text={value} limit={200} />
              </Fact>
            ))}
          </dl>
        </>
      )}
    </Dialog>
  )
}
