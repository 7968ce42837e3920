import type { SolanaTransaction } from '@chain-data/client/fetch'
import { memo } from 'react'
import { Amount } from '../shared/Amount.tsx'
import { cutText } from '../shared/cutText.ts'
import { Fact } from '../shared/Fact.tsx'
import { shownInteger } from '../shared/formatAmount.ts'
import type { IconName } from '../shared/Icon.tsx'
import { SafeText } from '../shared/SafeText.tsx'
import { ShortAddress, shorten } from '../shared/ShortAddress.tsx'
import { HistoryRow } from '../timeline/HistoryRow.tsx'
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

const maxMemo = 140

/** One transaction of a wallet: what changed, how it ended and when; more of it on demand. */
export const SolanaRow = memo(function SolanaRow(props: SolanaRowProps) {
  const { transaction, wallet, chainId, symbols, day } = props
  const { signature, status, blockTime, memo: text } = transaction
  const { deed, moves } = describeSolana(transaction, wallet)
  return (
    <HistoryRow
      {...{ id: signature, idLabel: 'signature', day }}
      deed={deeds[deed]}
      state={{ name: status, ...outcomes[status] }}
      moves={moves.map(move => <MoveOf key={move.mint ?? 'SOL'} {...{ move, symbols }} />)}
      withoutMoves="nothing moved"
      seconds={blockTime}
      memo={
        text !== undefined && (
          <>
            <span className="unseen">Memo: </span>
            <SafeText text={text} limit={maxMemo} />
          </>
        )
      }
      details={() => <Details {...{ transaction, moves, chainId, symbols }} />}
    />
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
  const { slot, feePayer, fee, version, confirmationStatus, error, tokens, programs } = transaction
  return (
    <>
      {moves.length > 1 && (
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
    </>
  )
}
