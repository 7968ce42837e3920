import { isConfirmed, type TransactionRecord } from '@chain-data/client/fetch'
import { memo, useId, useState } from 'react'
import { CopyButton } from '../shared/CopyButton.tsx'
import { shownInteger } from '../shared/formatAmount.ts'
import { Icon, type IconName } from '../shared/Icon.tsx'
import { ShortAddress, shorten } from '../shared/ShortAddress.tsx'
import { When } from '../shared/When.tsx'
import { type Deed, type Description, describeRecord } from './describeRecord.ts'
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

const mostMoves = 3

/** One transaction: what it was, how much moved, how it stands and when; more of it on demand. */
export const RecordRow = memo(function RecordRow(props: RecordRowProps) {
  const { record, address, chainId, currency, tokens, day, isNew, note, isGone = false } = props
  const [isOpen, setOpen] = useState(false)
  const details = useId()
  const told = describeRecord(record, address)
  const { word, icon } = deeds[told.deed]
  const shown = told.moves.slice(0, mostMoves)
  const state = isGone ? 'gone' : stateOf(record)
  return (
    <li className={isNew ? 'record isNew' : 'record'} data-hash={record.hash} data-state={state}>
      {day !== undefined && <h3 className="day">{day}</h3>}
      <div className="recordBody">
        <span className={`deed ${told.deed}`}>
          <Icon name={icon} />
        </span>
        <div className="recordMain">
          <div className="recordLine">
            <span className="recordWord">{word}</span>
            <span className="moves">
              {shown.map((move, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: moves of a record never change their places.
                <MoveAmount key={place} move={move} tokens={tokens} currency={currency} />
              ))}
              {told.moves.length === 0 && told.deed !== 'called' && told.deed !== 'created' && (
                <span className="quiet">
                  {told.deed === 'involved' ? (
                    'what moved is not known'
                  ) : (
                    <NativeAmount value={0n} currency={currency} />
                  )}
                </span>
              )}
              {told.moves.length > shown.length && (
                <span className="quiet">{shownInteger(told.moves.length - shown.length)} more</span>
              )}
            </span>
          </div>
          <div className="recordLine quiet">
            <span>
              <Party told={told} chainId={chainId} />
            </span>
            {told.feeWei !== undefined && (
              <span>
                fee <NativeAmount value={told.feeWei} currency={currency} />
              </span>
            )}
          </div>
          <div className="recordFoot quiet tiny">
            <StateWord state={state} />
            {!isGone && <When seconds={record.timestamp} />}
            <span className="hash">
              <span title={record.hash}>{shorten(record.hash)}</span>
              <CopyButton text={record.hash} label="transaction hash" />
            </span>
            <button
              type="button"
              className="linkButton"
              aria-expanded={isOpen}
              aria-controls={details}
              onClick={() => setOpen(!isOpen)}
            >
              {isOpen ? 'Less' : 'Details'}
              <span className="unseen"> of {shorten(record.hash)}</span>
            </button>
          </div>
          {note !== undefined && <p className="recordNote tiny">{note}</p>}
          <div id={details} className="recordMore" hidden={!isOpen}>
            {isOpen && <RecordDetails record={record} told={told} {...{ chainId, currency, tokens }} />}
          </div>
        </div>
      </div>
    </li>
  )
})

/** How a transaction stands. */
export type RecordState = 'queued' | 'pending' | 'success' | 'failed' | 'gone'

function stateOf(record: TransactionRecord): RecordState {
  if (!isConfirmed(record)) return record.status === 0 ? 'queued' : 'pending'
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
  gone: {
    word: 'Taken out',
    icon: 'question',
    tone: 'waiting',
    title: 'It is in no block and not waiting for one'
  }
}

function StateWord({ state }: { state: RecordState }) {
  const { word, icon, tone, title } = states[state]
  return (
    <span className={`state ${tone}`} title={title}>
      <Icon name={icon} />
      {word}
    </span>
  )
}

function Party({ told: { deed, counterparty, moves }, chainId }: { told: Description; chainId: number }) {
  if (counterparty !== undefined) {
    return (
      <>
        {deeds[deed].to} <ShortAddress address={counterparty} chainId={chainId} />
      </>
    )
  }
  const move = moves.find(({ direction }) => direction !== 'self')
  if (move?.token === undefined) return null
  return <>{move.direction === 'in' ? 'newly minted' : 'burned'}</>
}
