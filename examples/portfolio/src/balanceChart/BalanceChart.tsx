import { isConfirmed, type TransactionRecord } from '@chain-data/client/fetch'
import { getSyncStatusQuery, getTokensAndNFTsQuery } from '@chain-data/client/query'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useCertificate } from '../completeness/useCertificate.ts'
import { type ChainSettings, chainById } from '../config.ts'
import { useClient } from '../shared/ClientProvider.tsx'
import { Notice } from '../shared/Notice.tsx'
import { plural } from '../shared/plural.ts'
import type { AccountRoute } from '../shared/route.ts'
import { useChain } from '../shared/useChain.ts'
import { useHistory } from '../timeline/useHistory.ts'
import { anchorOf, type KnownAnchor, tieTo } from './Anchor.ts'
import { type BalanceSeries, balanceSeries, type Obstacle, type UnlistedPart } from './balanceSeries.ts'
import { chartTitle } from './chartTitle.ts'
import { type Range, usefulRanges, withinRange } from './ranges.ts'
import { StepChart } from './StepChart.tsx'
import './balanceChart.css'

const noRecords: readonly TransactionRecord[] = []

/** The native balance over the history that is loaded; why it cannot be told where that is so; nothing on Solana. */
export function BalanceChart(route: AccountRoute) {
  return chainById(route.chainId).family === 'evm' ? <EvmBalanceChart {...route} /> : null
}

function EvmBalanceChart({ chainId, address }: AccountRoute) {
  const client = useClient()
  const chain = useChain(chainId)
  const { snapshot } = useHistory({ chainId, address })
  const { certificate } = useCertificate({ chainId, address }, snapshot)
  const { data: status } = useQuery(getSyncStatusQuery(client, { chainId }))
  const holdings = useQuery(getTokensAndNFTsQuery(client, { chainId, address })).data
  const balance = useMemo(() => holdings && anchorOf(holdings), [holdings])
  const [range, setRange] = useState<Range>()
  const [known, setKnown] = useState<KnownAnchor>({ reorgs: snapshot.reorgs })
  const tied = tieTo(known, snapshot, balance)
  // While rendering, as React allows for what follows from the last render.
  if (tied !== known) setKnown(tied)

  const { records = noRecords, hasOlder } = snapshot
  const { anchor } = tied
  const series = useMemo(() => {
    const history = { records, isComplete: !hasOlder, anchor }
    return balanceSeries(history, address, { internalFrom: status?.internalFrom, certificate })
  }, [records, hasOlder, anchor, address, status?.internalFrom, certificate])
  if (series === undefined || records.length === 0) return null
  if ('kind' in series) {
    return (
      <section className="card" aria-labelledby="balance">
        <h2 id="balance">Balance over time</h2>
        <Notice state="partial" title="Cannot be told from these transactions">
          {whyNot(series, chain)}
        </Notice>
      </section>
    )
  }
  const shown = withinRange(series, range)
  // One moment is no course of things.
  if (series.points.length < 2) return null
  return (
    <section className="card balanceChart" aria-labelledby="balance">
      <header className="chartHead">
        <h2 id="balance">{chartTitle(shown, chain)}</h2>
        <RangeButtons offered={usefulRanges(series)} chosen={range} onChoose={setRange} />
      </header>
      <StepChart series={shown} currency={chain} />
      <p className="quiet tiny">{caption(series, records.filter(record => isConfirmed(record)).length)}</p>
    </section>
  )
}

interface RangeButtonsProps {
  offered: readonly Range[]
  /** Absent: all of the history. */
  chosen: Range | undefined
  onChoose: (range: Range | undefined) => void
}

function RangeButtons({ offered, chosen, onChoose }: RangeButtonsProps) {
  if (offered.length === 0) return null
  return (
    <fieldset className="ranges">
      <legend className="unseen">Time that the chart shows</legend>
      {[...offered, undefined].map(range => (
        <button
          key={range?.label ?? 'All'}
          type="button"
          aria-pressed={range === chosen}
          title={range?.name ?? 'All that is loaded'}
          onClick={() => onChoose(range)}
        >
          {range?.label ?? 'All'}
        </button>
      ))}
    </fieldset>
  )
}

function caption({ isWhole, trust }: BalanceSeries, count: number): string {
  const over = isWhole
    ? `After every one of ${plural(count, 'transaction', 'transactions')}, from left to right by block, counted back from the balance of now.`
    : 'Over the newest transactions, from left to right by block, counted back from the balance of now. Load older ones to see further.'
  return trust === 'proven'
    ? `${over} Proven: it adds up to what the chain says.`
    : `${over} Right unless something came without a transaction, such as validator withdrawals.`
}

const partWords: Record<UnlistedPart, string> = {
  withdrawals: 'validator withdrawals',
  rewards: 'block rewards',
  tips: 'tips of blocks',
  minted: 'deposits of the rollup',
  burned: 'what was burned with a contract'
}

function whyNot(obstacle: Obstacle, { name }: ChainSettings): string {
  switch (obstacle.kind) {
    case 'untraced':
      return `The service does not know what contracts on ${name} have paid to this account: it runs without traces. A line without that would be wrong.`
    case 'unlisted':
      return `Its balance also has ${obstacle.parts.map(part => partWords[part]).join(' and ')}, which no transaction shows. A line without that would be wrong.`
    case 'contradiction':
      return 'They do not add up to what the chain says. A line would be wrong.'
  }
}
