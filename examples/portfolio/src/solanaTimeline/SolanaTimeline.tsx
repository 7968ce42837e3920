import { hasReason, type SolanaTransactionHistory } from '@chain-data/client/fetch'
import { enhancedGetTokensAndNFTsQuery, solanaTransactionPagesQuery } from '@chain-data/client/query'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef } from 'react'
import { chainById, settings } from '../config.ts'
import { useClient } from '../shared/ClientProvider.tsx'
import { FailedNotice, retryEvery } from '../shared/FailedNotice.tsx'
import { shownInteger } from '../shared/formatAmount.ts'
import { Notice } from '../shared/Notice.tsx'
import { plural } from '../shared/plural.ts'
import type { AccountRoute } from '../shared/route.ts'
import { ShortAddress } from '../shared/ShortAddress.tsx'
import { Skeleton } from '../shared/Skeleton.tsx'
import { useNow } from '../shared/useNow.ts'
import { useSteadyError } from '../shared/useSteadyError.ts'
import { When } from '../shared/When.tsx'
import { dayName, dayOf } from '../timeline/days.ts'
import { SolanaRow, type Symbols } from './SolanaRow.tsx'
import './solanaTimeline.css'

const pageLength = 25
/** Asked again by itself while so few pages are shown: all of them are read anew. */
const mostRefreshed = 4

/** Every transaction of a wallet and of its token accounts, newest first, and whether one is missing between them. */
export function SolanaTimeline({ chainId, address }: AccountRoute) {
  const client = useClient()
  const history = useInfiniteQuery({
    ...solanaTransactionPagesQuery(client, { chainId, address, limit: pageLength }),
    refetchInterval: ({ state: { data, error } }) =>
      (data?.pages.length ?? 0) > mostRefreshed ? false : retryEvery(error, chainId, settings.pollMs)
  })
  const { data, isPending, refetch } = history
  const error = useSteadyError({ error: history.error, isPending })
  const pages = data?.pages
  const transactions = useMemo(() => pages?.flatMap(page => page.transactions), [pages])
  return (
    <>
      <h2 id="transactions">
        Transactions{' '}
        {transactions !== undefined && (
          <span className="quiet">
            {shownInteger(transactions.length)}
            {history.hasNextPage && ' newest'}
          </span>
        )}
      </h2>
      {error !== null && <Failure {...{ error, chainId }} onRetry={() => void refetch()} />}
      {transactions === undefined && error === null && <Skeleton rows={4} />}
      {pages !== undefined && transactions !== undefined && (
        <>
          <Continuity pages={pages} onRead={() => void refetch()} />
          {transactions.length === 0 ? (
            <Notice state="empty" title="No transactions">
              {coverage(pages)}
            </Notice>
          ) : (
            <Rows {...{ chainId, address, transactions }} />
          )}
          <End {...{ history, pages, chainId }} count={transactions.length} />
        </>
      )}
    </>
  )
}

type Pages = readonly SolanaTransactionHistory[]

function Failure({ error, chainId, onRetry }: { error: unknown; chainId: number; onRetry: () => void }) {
  if (!hasReason(error, 'METHOD_NOT_FOUND')) return <FailedNotice {...{ error, chainId, onRetry }} />
  return (
    <Notice state="empty" title={`No history for ${chainById(chainId).name}`}>
      This service tells what an account on Solana holds, and not how it came to it.
    </Notice>
  )
}

/** Whether each balance follows from the one before, and if not, where something is missing. */
function Continuity({ pages, onRead }: { pages: Pages; onRead: () => void }) {
  const all = pages.flatMap(page => page.continuity.gaps)
  const gaps = all.filter(({ cause }) => cause === 'missing')
  const pruned = all.filter(({ cause }) => cause === 'pruned')
  const late = pages.flatMap(page => page.covers.late ?? [])
  return (
    <>
      {late.length > 0 && (
        <Notice
          state="stale"
          title="Newer transactions were found"
          action={{ label: 'Show them', onPress: onRead }}
        >
          They are of {plural(late.length, 'token account', 'token accounts')} that was closed.
        </Notice>
      )}
      {pruned.length > 0 && (
        <Notice
          state="partial"
          title={`The beginning of ${plural(pruned.length, 'account', 'accounts')} is missing`}
        >
          The nodes do not have all blocks, and what was held before the first transaction here came from an
          older one.
          <Where gaps={pruned} />
        </Notice>
      )}
      {gaps.length === 0 ? (
        <p className="quiet tiny" role="status">
          {pruned.length === 0 &&
            pages.some(page => page.transactions.length > 0) &&
            'Nothing is missing between these: each balance follows from the one before.'}
        </p>
      ) : (
        <Notice state="partial" title={`Something is missing in ${plural(gaps.length, 'place', 'places')}`}>
          A balance changed where the nodes list no transaction.
          <Where gaps={gaps} />
        </Notice>
      )}
    </>
  )
}

function Where({ gaps }: { gaps: SolanaTransactionHistory['continuity']['gaps'] }) {
  return (
    <details>
      <summary>Where</summary>
      <ul className="incomplete">
        {gaps.map(({ account, older, newer }) => {
          const signature = older ?? newer
          return (
            <li key={`${account} ${older} ${newer}`}>
              <ShortAddress address={account} />
              {signature === undefined ? (
                ', in no transaction here'
              ) : (
                <>
                  : {older === undefined ? 'before ' : 'after '}
                  <ShortAddress address={signature} label="signature" />
                </>
              )}
            </li>
          )
        })}
      </ul>
    </details>
  )
}

function Rows({
  chainId,
  address,
  transactions
}: AccountRoute & { transactions: SolanaTransactionHistory['transactions'] }) {
  const symbols = useSymbols({ chainId, address })
  const today = dayOf(useNow() / 1000)
  return (
    <ol className="records">
      {transactions.map((transaction, place) => {
        const { signature, blockTime } = transaction
        const before = transactions[place - 1]?.blockTime
        const isFirstOfDay =
          blockTime !== undefined && (before === undefined || dayOf(before) !== dayOf(blockTime))
        return (
          <SolanaRow
            key={signature}
            {...{ transaction, chainId, symbols }}
            wallet={address}
            day={isFirstOfDay ? dayName(blockTime, today) : undefined}
          />
        )
      })}
    </ol>
  )
}

/** From the same query as the holdings: the cache answers. */
function useSymbols({ chainId, address }: AccountRoute): Symbols {
  const { data } = useQuery(
    enhancedGetTokensAndNFTsQuery(useClient(), { chainId, accountAddress: address, parseMetadataUri: true })
  )
  return useMemo(() => {
    const held = [...(data?.nfts ?? []), ...(data?.tokens ?? [])]
    const named = held.map(({ mint, symbol, name }) => [mint, symbol || name] as const)
    return new Map([
      ['So11111111111111111111111111111111111111112', 'wrapped SOL'],
      ...named.filter(([, name]) => name !== '')
    ])
  }, [data])
}

interface EndProps {
  history: Pick<
    ReturnType<typeof useInfiniteQuery>,
    'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage' | 'isFetchNextPageError'
  >
  pages: Pages
  chainId: number
  count: number
}

/** Reads on when the reader comes to the end; by a button for those who do not scroll. */
function End({ history, pages, count }: EndProps) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage, isFetchNextPageError } = history
  const end = useRef<HTMLDivElement>(null)
  const canRead = hasNextPage && !isFetchingNextPage && !isFetchNextPageError
  const readOn = useCallback(() => void fetchNextPage(), [fetchNextPage])
  useEffect(() => {
    if (end.current === null || !canRead) return
    const read: IntersectionObserverCallback = entries => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) readOn()
    }
    const observer = new IntersectionObserver(read, { rootMargin: '600px' })
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [canRead, readOn])
  const first = pages.at(-1)?.transactions.at(-1)?.blockTime
  return (
    <div className="end" ref={end}>
      {!hasNextPage && count > 0 && (
        <p className="quiet">
          That is all: {plural(count, 'transaction', 'transactions')}
          {first !== undefined && (
            <>
              , the first <When seconds={first} />
            </>
          )}
          . {coverage(pages)}
        </p>
      )}
      {hasNextPage && (
        <button type="button" className="button" aria-disabled={isFetchingNextPage} onClick={readOn}>
          {isFetchingNextPage ? 'Loading older ones …' : 'Load older'}
        </button>
      )}
    </div>
  )
}

/** From where on the nodes know everything. */
function coverage(pages: Pages): string {
  const { reason, fromSlot } = pages.at(-1)?.covers ?? {}
  if (reason === 'genesis' || reason === undefined) return ''
  if (fromSlot === undefined) return 'How far back its nodes know everything is not known.'
  return `Its nodes know everything since slot ${shownInteger(fromSlot)}; older transactions are not known.`
}
