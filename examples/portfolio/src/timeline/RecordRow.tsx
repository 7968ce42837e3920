import { isConfirmed, type TransactionRecord } from '@chain-data/client/fetch'
import { memo } from 'react'
import type { IconName } from '../shared/Icon.tsx'
import { ShortAddress } from '../shared/ShortAddress.tsx'
import { type Deed, type Description, describeRecord } from './describeRecord.ts'
import { HistoryRow } from './HistoryRow.tsx'
import { type Currency, MoveAmount, NativeAmount } from './MoveAmount.tsx'
import { RecordDetails } from './RecordDetails.tsx'
import type { Tokens } from './useTokens.ts'

/** What a {@link RecordRow} shows. */
export interface RecordRowProps {
  record: TransactionRecord
  /** The account that is looked at. */
  address: string
  chainId: number
  currency: Currency
  tokens: Tokens
  /** A name of the day, above the first row of it. */
  day?: string | undefined
  /** The reader has not seen it come. */
  isNew: boolean
  /** What is unusual about it, in words. */
  note?: string | undefined
  /** It is in no block and in no pool any more. */
  isGone?: boolean
}

const deeds: Record<Deed, { word: string; icon: IconName; to: string }> = {
  sent: { word: 'Sent', icon: 'up', to: 'to' },
  received: { word: 'Received', icon: 'down', to: 'from' },
  exchanged: { word: 'Exchanged', icon: 'both', to: 'with' },
  self: { word: 'Sent to itself', icon: 'both', to: '' },
  called: { word: 'Called a contract', icon: 'code', to: 'at' },
  created: { word: 'Created a contract', icon: 'plus', to: 'at' },
  wasCreated: { word: 'Was created', icon: 'plus', to: 'by' },
  involved: { word: 'Took part', icon: 'question', to: 'in one of' }
}

/** One transaction of an EVM account: what it was, how much moved, how it stands and when; more of it on demand. */
export const RecordRow = memo(function RecordRow(props: RecordRowProps) {
  const { record, address, chainId, currency, tokens, day, isNew, note, isGone = false } = props
  const told = describeRecord(record, address)
  const name = isGone ? 'gone' : stateOf(record)
  const { word, icon } = deeds[told.deed]
  return (
    <HistoryRow
      {...{ id: record.hash, idLabel: 'transaction hash', day, isNew, note }}
      deed={{ word, icon, tone: told.deed }}
      state={{ name, ...states[name] }}
      party={<Party told={told} chainId={chainId} />}
      moves={told.moves.map((move, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: moves of a record never change their places.
        <MoveAmount key={place} move={move} tokens={tokens} currency={currency} />
      ))}
      withoutMoves={<WithoutMoves deed={told.deed} currency={currency} />}
      seconds={isGone ? undefined : record.timestamp}
      details={() => <RecordDetails record={record} told={told} {...{ chainId, currency, tokens }} />}
    />
  )
})

function WithoutMoves({ deed, currency }: { deed: Deed; currency: Currency }) {
  if (deed === 'called' || deed === 'created') return null
  if (deed === 'involved') return <>what moved is not known</>
  return <NativeAmount value={0n} currency={currency} />
}

/** How a transaction stands. */
type RecordState = 'queued' | 'pending' | 'success' | 'failed' | 'unknown' | 'gone'

function stateOf(record: TransactionRecord): RecordState {
  if (!isConfirmed(record)) return record.status === 0 ? 'queued' : 'pending'
  if (record.status === undefined) return 'unknown'
  return record.status === 3 ? 'success' : 'failed'
}

const states: Record<RecordState, { word: string; icon: IconName; tone: string; title: string }> = {
  queued: { word: 'Queued', icon: 'clock', tone: 'waiting', title: 'It waits for one with a lower nonce' },
  pending: { word: 'Pending', icon: 'clock', tone: 'waiting', title: 'It waits for a block' },
  success: { word: 'Success', icon: 'check', tone: 'good', title: 'It is in a block' },
  failed: {
    word: 'Failed',
    icon: 'cross',
    tone: 'bad',
    title: 'It is in a block, was undone and paid its fee'
  },
  unknown: {
    word: 'Unknown',
    icon: 'question',
    tone: 'waiting',
    title: 'It is in a block, and whether it succeeded is not known'
  },
  gone: {
    word: 'Taken out',
    icon: 'question',
    tone: 'waiting',
    title: 'It is in no block and not waiting for one'
  }
}

function Party({ told: { deed, counterparty, moves }, chainId }: { told: Description; chainId: number }) {
  if (counterparty !== undefined) {
    return (
      <>
        {deeds[deed].to} <ShortAddress address={counterparty} chainId={chainId} label={null} />
      </>
    )
  }
  const move = moves.find(({ direction }) => direction !== 'self')
  if (move?.token === undefined) return null
  return <>{move.direction === 'in' ? 'newly minted' : 'burned'}</>
}
