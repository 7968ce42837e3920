import type { SolanaTransaction } from '@chain-data/client/fetch'
import { memo, type ReactNode, useId, useState } from 'react'
import { Amount } from '../shared/Amount.tsx'
import { CopyButton } from '../shared/CopyButton.tsx'
import { cutText } from '../shared/cutText.ts'
import { shownInteger } from '../shared/formatAmount.ts'
import { Icon, type IconName } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { ShortAddress, shorten } from '../shared/ShortAddress.tsx'
import { When } from '../shared/When.tsx'
import { describeSolana, type SolanaDescription, type SolanaMove } from './describeSolana.ts'

/** Symbols by mint, of what the wallet holds. */
export type Symbols = ReadonlyMap<string, string>

interface SolanaRowProps {
  transaction: SolanaTransaction
  wallet: string
  chainId: number
  symbols: Symbols
  /** A name of the day, above the first row of it. */
  day?: string | undefined
}

const deeds: Record<SolanaDescription['deed'], { word: string; icon: IconName; tone: string }> = {
  sent: { word: 'Sent', icon: 'up', tone: 'sent' },
  received: { word: 'Received', icon: 'down', tone: 'received' },
  exchanged: { word: 'Exchanged', icon: 'both', tone: 'exchanged' },
  unchanged: { word: 'Took part', icon: 'code', tone: 'called' }
}

const outcomes = {
  success: { word: 'Success', icon: 'check', tone: 'good', title: 'It is in a block' },
  failed: { word: 'Failed', icon: 'cross', tone: 'bad', title: 'It changed nothing but the fee' }
} as const

const mostMoves = 3
const mostMemo = 140

/** One transaction of a wallet: what changed, how it ended and when; more of it on demand. */
export const SolanaRow = memo(function SolanaRow(props: SolanaRowProps) {
  const { transaction, wallet, chainId, symbols, day } = props
  const { signature, status, blockTime, memo: note } = transaction
  const [isOpen, setOpen] = useState(false)
  const details = useId()
  const { deed, moves, feeLamports } = describeSolana(transaction, wallet)
  const { word, icon, tone } = deeds[deed]
  const outcome = outcomes[status]
  return (
    <li className="record" data-hash={signature} data-state={status}>
      {day !== undefined && <h3 className="day">{day}</h3>}
      <div className="recordBody">
        <span className={`deed ${tone}`}>
          <Icon name={icon} />
        </span>
        <div className="recordMain">
          <div className="recordLine">
            <span className="recordWord">{word}</span>
            <span className="moves">
              {moves.slice(0, mostMoves).map(move => (
                <MoveOf key={move.mint ?? 'SOL'} {...{ move, symbols }} />
              ))}
              {moves.length === 0 && <span className="quiet">nothing moved</span>}
              {moves.length > mostMoves && (
                <span className="quiet">{shownInteger(moves.length - mostMoves)} more</span>
              )}
            </span>
          </div>
          {note !== undefined && (
            <p className="quiet solanaMemo">
              <span className="unseen">Memo: </span>
              <SafeText text={note} limit={mostMemo} />
            </p>
          )}
          <div className="recordFoot quiet tiny">
            <span className={`state ${outcome.tone}`} title={outcome.title}>
              <Icon name={outcome.icon} />
              {outcome.word}
            </span>
            {blockTime !== undefined && <When seconds={blockTime} />}
            {feeLamports !== undefined && (
              <span>
                fee <Amount value={feeLamports} decimals={9} unit="SOL" />
              </span>
            )}
            <span className="hash">
              <span title={signature}>{shorten(signature)}</span>
              <CopyButton text={signature} label="signature" />
            </span>
            <button
              type="button"
              className="linkButton"
              aria-expanded={isOpen}
              aria-controls={details}
              onClick={() => setOpen(!isOpen)}
            >
              {isOpen ? 'Less' : 'Details'}
              <span className="unseen"> of {shorten(signature)}</span>
            </button>
          </div>
          <div id={details} className="recordMore" hidden={!isOpen}>
            {isOpen && <Details {...{ transaction, moves, chainId, symbols }} />}
          </div>
        </div>
      </div>
    </li>
  )
})

function MoveOf({ move: { change, decimals, mint }, symbols }: { move: SolanaMove; symbols: Symbols }) {
  const unit = mint === undefined ? 'SOL' : cutText(symbols.get(mint) ?? '', 14) || shorten(mint)
  return (
    <span className={change > 0n ? 'move good' : 'move'} title={mint}>
      <Amount value={change} decimals={decimals} unit={unit} signed />
    </span>
  )
}

function Details({
  transaction,
  moves,
  chainId,
  symbols
}: {
  transaction: SolanaTransaction
  moves: readonly SolanaMove[]
  chainId: number
  symbols: Symbols
}) {
  const { signature, slot, feePayer, fee, version, confirmationStatus, error, tokens, programs } = transaction
  return (
    <>
      {moves.length > mostMoves && (
        <ul className="allMoves">
          {moves.map(move => (
            <li key={move.mint ?? 'SOL'}>
              <MoveOf {...{ move, symbols }} />
            </li>
          ))}
        </ul>
      )}
      <dl className="recordFacts">
        <Fact name="Slot">{shownInteger(slot)}</Fact>
        <Fact name="Stage">{confirmationStatus}</Fact>
        <Fact name="Version">{version}</Fact>
        <Fact name="Fee">
          <Amount value={BigInt(fee)} decimals={9} unit="SOL" maxFraction={9} /> by{' '}
          <ShortAddress address={feePayer} chainId={chainId} />
        </Fact>
        {tokens.map(({ account, pre, post, decimals }) => (
          <Fact key={account} name="Token account">
            <ShortAddress address={account} label="token account" />{' '}
            <Amount value={BigInt(pre)} decimals={decimals} /> →{' '}
            <Amount value={BigInt(post)} decimals={decimals} />
          </Fact>
        ))}
        {programs.map(program => (
          <Fact key={program} name="Program">
            <ShortAddress address={program} label="program" />
          </Fact>
        ))}
        {error !== undefined && (
          <Fact name="Error">
            <SafeText text={typeof error === 'string' ? error : JSON.stringify(error)} limit={120} />
          </Fact>
        )}
      </dl>
      <p className="fullHash wrap">{signature}</p>
    </>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
