import { useEffect, useRef, useState } from 'react'
import { AccountHead } from './account/AccountHead.tsx'
import { ChainState } from './account/ChainState.tsx'
import { BalanceChart } from './balanceChart/BalanceChart.tsx'
import { Completeness } from './completeness/Completeness.tsx'
import { chainById } from './config.ts'
import { HoldingsSections } from './holdings/HoldingsSections.tsx'
import { type HoldingsState, useHoldings } from './holdings/useHoldings.ts'
import { parseAddress } from './search/parseAddress.ts'
import { rememberAccount } from './search/recentAccounts.ts'
import { ErrorBoundary } from './shared/ErrorBoundary.tsx'
import { explainError } from './shared/explainError.ts'
import { Notice } from './shared/Notice.tsx'
import type { AccountRoute } from './shared/route.ts'
import { shorten } from './shared/ShortAddress.tsx'
import { useChain } from './shared/useChain.ts'
import { Timeline } from './timeline/Timeline.tsx'

/** Everything about the account that the address bar names, or why there is no such account. */
export function AccountPage({ route: { chainId, address } }: { route: AccountRoute }) {
  const { family, name } = chainById(chainId)
  const parsed = parseAddress(address)
  // A link is taken at its word, whatever its case.
  const found = 'insist' in parsed ? parsed.insist : parsed.problem === undefined ? parsed : undefined
  if (found === undefined || found.family !== family) {
    const problem = parsed.problem ?? 'It is one of another kind of chain. Choose that chain above.'
    return (
      <Notice state="failed" title={`This is no address of ${name}`}>
        {problem}
      </Notice>
    )
  }
  return (
    <ErrorBoundary>
      <Account chainId={chainId} address={found.address} />
    </ErrorBoundary>
  )
}

function Account({ chainId, address }: AccountRoute) {
  const holdings = useHoldings({ chainId, address })
  const heading = useRef<HTMLHeadingElement>(null)
  const { name } = useChain(chainId)
  // Where nothing can be read at all, the head says it once for all parts.
  const { data, error } = holdings
  const concernsAll = data === undefined && error !== null && explainError(error, chainId).concernsAll

  useEffect(() => {
    document.title = `${shorten(address)} on ${name} – Portfolio`
    rememberAccount({ chainId, address })
    // Whoever reads with a screen reader begins where the new page does.
    heading.current?.focus({ preventScroll: true })
  }, [address, chainId, name])

  return (
    <article className="account">
      <AccountHead chainId={chainId} address={address} holdings={holdings} heading={heading} />
      {concernsAll ? null : <Parts chainId={chainId} address={address} holdings={holdings} />}
    </article>
  )
}

/** Parts of which a phone shows one at a time; wide screens show all of them. */
const parts = { tokens: 'Tokens', nfts: 'NFTs', activity: 'Activity' } as const
type Part = keyof typeof parts

function PartButtons({ shown, onShow }: { shown: Part; onShow: (part: Part) => void }) {
  return (
    <fieldset className="partButtons">
      <legend className="unseen">Part that is shown</legend>
      {(Object.keys(parts) as Part[]).map(part => (
        <button key={part} type="button" aria-pressed={part === shown} onClick={() => onShow(part)}>
          {parts[part]}
        </button>
      ))}
    </fieldset>
  )
}

function Parts({ chainId, address, holdings }: AccountRoute & { holdings: HoldingsState }) {
  const [shown, setShown] = useState<Part>('tokens')
  return (
    <>
      <ErrorBoundary>
        <ChainState chainId={chainId} />
        <Completeness chainId={chainId} address={address} />
      </ErrorBoundary>
      <div className="columns" data-shown={shown}>
        <div className="chartPart">
          <ErrorBoundary>
            <BalanceChart chainId={chainId} address={address} />
          </ErrorBoundary>
        </div>
        <PartButtons shown={shown} onShow={setShown} />
        <div className="holdingsPart">
          <ErrorBoundary>
            <HoldingsSections holdings={holdings} chainId={chainId} />
          </ErrorBoundary>
        </div>
        <div className="historyPart">
          <ErrorBoundary>
            <Timeline chainId={chainId} address={address} />
          </ErrorBoundary>
        </div>
      </div>
    </>
  )
}
