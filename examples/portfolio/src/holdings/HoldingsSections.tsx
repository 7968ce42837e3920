import { chainById } from '../config.ts'
import { shownInteger } from '../shared/formatAmount.ts'
import { Notice, type NoticeProps } from '../shared/Notice.tsx'
import { plural } from '../shared/plural.ts'
import { ShortAddress } from '../shared/ShortAddress.tsx'
import { Skeleton } from '../shared/Skeleton.tsx'
import type { HoldingsView } from './HoldingsView.ts'
import { NftGallery } from './NftGallery.tsx'
import { mayLackHoldings, missingReason } from './reasons.ts'
import { TokenList } from './TokenList.tsx'
import type { HoldingsState } from './useHoldings.ts'

/** Tokens, NFTs, and what could not be read of them. */
export function HoldingsSections({
  holdings: { data, error },
  chainId
}: {
  holdings: HoldingsState
  chainId: number
}) {
  // The head of the page says why.
  if (data === undefined && error !== null) return null
  const proven =
    data?.asOf === undefined ? '' : ` (as of ${blockWord(chainId)} ${shownInteger(data.asOf.block)})`
  const real = data?.tokens.filter(({ spam }) => spam?.verdict !== 'spam') ?? []
  const spam = data?.tokens.filter(token => token.spam?.verdict === 'spam') ?? []
  return (
    <>
      <section className="card tokensPart" aria-labelledby="tokens">
        <h2 id="tokens">
          Tokens <Count of={data?.tokens.length} />
        </h2>
        {data === undefined && <Skeleton rows={3} />}
        {data?.tokens.length === 0 && <Notice {...none(data, 'tokens', proven)} />}
        {real.length > 0 && <TokenList tokens={real} label="Tokens" currency={data?.currency} />}
        {spam.length > 0 && (
          <details className="set">
            <summary>{plural(spam.length, 'more that looks', 'more that look')} like spam</summary>
            <TokenList tokens={spam} label="Tokens that look like spam" currency={data?.currency} />
          </details>
        )}
      </section>
      <section className="card nftsPart" aria-labelledby="nfts">
        <h2 id="nfts">
          NFTs <Count of={data?.nfts.length} />
        </h2>
        {data === undefined && <Skeleton squares={3} />}
        {data?.nfts.length === 0 && <Notice {...none(data, 'NFTs', proven)} />}
        {data !== undefined && data.nfts.length > 0 && <NftGallery nfts={data.nfts} />}
      </section>
      {data !== undefined && data.incomplete.length > 0 && <Incomplete items={data.incomplete} />}
    </>
  )
}

/** What could not be read may be one of them. */
function none({ incomplete }: HoldingsView, what: string, proven: string): NoticeProps {
  if (mayLackHoldings(incomplete))
    return { state: 'partial', title: `No ${what} that could be read${proven}` }
  return { state: 'empty', title: `No ${what}${proven}` }
}

function Count({ of }: { of: number | undefined }) {
  return of === undefined ? null : <span className="quiet">{shownInteger(of)}</span>
}

function Incomplete({ items }: { items: HoldingsView['incomplete'] }) {
  return (
    <section className="card incompletePart" aria-label="What could not be read">
      <Notice
        state="partial"
        title={`${plural(items.length, 'thing', 'things')} could not be read completely`}
      >
        <details>
          <summary>Which, and why</summary>
          <ul className="incomplete">
            {items.map(({ address, tokenId, reason }) => (
              <li key={`${address} ${tokenId} ${reason}`}>
                <ShortAddress address={address} />
                {tokenId !== undefined && <span className="wrap"> #{tokenId}</span>}: {missingReason(reason)}
              </li>
            ))}
          </ul>
        </details>
      </Notice>
    </section>
  )
}

/** What heights are called on a chain. */
export function blockWord(chainId: number): 'block' | 'slot' {
  return chainById(chainId).family === 'evm' ? 'block' : 'slot'
}
