import type { RefObject } from 'react'
import { blockWord } from '../holdings/HoldingsSections.tsx'
import type { HoldingsView } from '../holdings/HoldingsView.ts'
import { mayLackHoldings } from '../holdings/reasons.ts'
import type { HoldingsState } from '../holdings/useHoldings.ts'
import { Value } from '../holdings/Value.tsx'
import { Amount } from '../shared/Amount.tsx'
import { CopyButton } from '../shared/CopyButton.tsx'
import { FailedNotice, StaleNotice } from '../shared/FailedNotice.tsx'
import { exactAmount, shownInteger } from '../shared/formatAmount.ts'
import { plural } from '../shared/plural.ts'
import { SafeText } from '../shared/SafeText.tsx'
import { ShortAddress } from '../shared/ShortAddress.tsx'
import { useChain } from '../shared/useChain.ts'
import { When } from '../shared/When.tsx'

/** The answer to what an account holds, in one line, and how far it can be believed. */
export function AccountHead({
  chainId,
  address,
  holdings,
  heading
}: {
  chainId: number
  address: string
  holdings: HoldingsState
  heading: RefObject<HTMLHeadingElement | null>
}) {
  const { name, symbol, decimals } = useChain(chainId)
  const { data, error, readAtSeconds, retry } = holdings
  return (
    <header className="head">
      <p className="quiet whose">
        <span>{name}</span>
        {data?.name !== undefined && <SafeText text={data.name} className="accountName" />}
        <ShortAddress address={address} />
      </p>
      <h1 ref={heading} tabIndex={-1} className={data === undefined && error !== null ? 'unseen' : undefined}>
        <span className="unseen">
          The account {address} {data === undefined && error !== null ? 'could not be read' : 'holds '}
        </span>
        {data === undefined && error === null && <span className="skeleton headline" />}
        {data !== undefined && (
          <>
            <Amount value={data.native} decimals={decimals} unit={symbol} maxFraction={4} />
            <CopyButton text={exactAmount(data.native, decimals)} label="exact balance" />
          </>
        )}
      </h1>
      {data?.nativeValue !== undefined && data.currency !== undefined && (
        <p>
          <Value value={data.nativeValue} currency={data.currency} />
        </p>
      )}
      {data !== undefined && (
        <p className="quiet">
          {summary(data)}
          {data.asOf !== undefined && (
            <>
              , as of {blockWord(chainId)} {shownInteger(data.asOf.block)}
              {data.asOf.seconds !== undefined && (
                <>
                  {', '}
                  <When seconds={data.asOf.seconds} />
                </>
              )}
            </>
          )}
        </p>
      )}
      {error !== null && data === undefined && (
        <div className="card">
          <FailedNotice error={error} chainId={chainId} onRetry={retry} />
        </div>
      )}
      {error !== null && data !== undefined && (
        <StaleNotice {...{ error, chainId, readAtSeconds }} onRetry={retry} />
      )}
    </header>
  )
}

function summary({ tokens, nfts, incomplete }: HoldingsView): string {
  if (tokens.length === 0 && nfts.length === 0) {
    return `No tokens and no NFTs${mayLackHoldings(incomplete) ? ' that could be read' : ''}`
  }
  return `Plus ${plural(tokens.length, 'token', 'tokens')} and ${plural(nfts.length, 'NFT', 'NFTs')}`
}
