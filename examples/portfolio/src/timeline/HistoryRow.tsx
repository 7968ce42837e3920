import { type MouseEvent, type ReactNode, useId, useState } from 'react'
import { CopyButton } from '../shared/CopyButton.tsx'
import { shownInteger } from '../shared/formatAmount.ts'
import { Icon, type IconName } from '../shared/Icon.tsx'
import { shorten } from '../shared/ShortAddress.tsx'
import { When } from '../shared/When.tsx'

/** What a {@link HistoryRow} shows. */
export interface HistoryRowProps {
  /** Hash or signature. */
  id: string
  /** What `id` is, for the copy button. */
  idLabel: string
  /** What the transaction was for the account. */
  deed: { readonly word: string; readonly icon: IconName; readonly tone: string }
  state: {
    readonly name: string
    readonly word: string
    readonly icon: IconName
    readonly tone: string
    readonly title: string
  }
  /** The other side, in words after the deed. */
  party?: ReactNode
  /** What moved, each with a key; the first two are in the row. */
  moves: readonly ReactNode[]
  /** In place of moves where there are none. */
  withoutMoves?: ReactNode
  /** Unix time; absent where it is not known. */
  seconds?: number | undefined
  /** Text of the sender. */
  memo?: ReactNode
  /** What is unusual about it, in words. */
  note?: string | undefined
  /** A name of the day, above the first row of it. */
  day?: string | undefined
  /** The reader has not seen it come. */
  isNew?: boolean
  /** Everything that is not in the row, rendered once the row is opened. */
  details: () => ReactNode
}

/** Two lines of text. */
const maxMoves = 2

/** One transaction of either family in a row of two lines, which opens when it is pressed anywhere. */
export function HistoryRow(props: HistoryRowProps) {
  const { id, idLabel, deed, state, party, moves, withoutMoves, seconds, memo, note, day, isNew, details } =
    props
  const [isOpen, setOpen] = useState(false)
  const more = useId()
  const shown = moves.length > maxMoves ? moves.slice(0, 1) : moves
  const onClick = ({ target }: MouseEvent) => {
    // Links and buttons of the row do what they say, and a text that was selected is read.
    if ((target as Element).closest('a, button') !== null || String(getSelection()) !== '') return
    setOpen(!isOpen)
  }
  return (
    <li className={isNew ? 'record isNew' : 'record'} data-hash={id} data-state={state.name}>
      {day !== undefined && <h3 className="day">{day}</h3>}
      {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: the button in it does the same by keyboard. */}
      <div className="recordBody" onClick={onClick}>
        <span className={`deed ${deed.tone}`}>
          <Icon name={deed.icon} />
        </span>
        <div className="recordMain">
          <div className="recordLine">
            <span className="recordWord">{deed.word}</span> <span className="quiet">{party}</span>
          </div>
          <div className="recordLine quiet tiny">
            <span className={`state ${state.tone}`} title={state.title}>
              <Icon name={state.icon} />
              {state.word}
            </span>
            {seconds !== undefined && (
              <>
                {' · '}
                <When seconds={seconds} />
              </>
            )}
            {memo && <> · {memo}</>}
          </div>
        </div>
        <div className="moves">
          {shown}
          {moves.length === 0 && <span className="quiet">{withoutMoves}</span>}
          {moves.length > maxMoves && (
            <span className="quiet tiny">and {shownInteger(moves.length - 1)} more</span>
          )}
        </div>
        <button
          type="button"
          className="opener"
          aria-expanded={isOpen}
          aria-controls={more}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="chevron" />
          <span className="unseen">Details of {shorten(id)}</span>
        </button>
      </div>
      {note !== undefined && <p className="recordNote tiny">{note}</p>}
      <div id={more} className="recordMore" hidden={!isOpen}>
        {isOpen && (
          <>
            {details()}
            <p className="fullHash wrap">
              {id} <CopyButton text={id} label={idLabel} />
            </p>
          </>
        )}
      </div>
    </li>
  )
}
