import { SpamBadge } from '../holdings/SpamBadge.tsx'
import { Amount } from '../shared/Amount.tsx'
import { cutText } from '../shared/cutText.ts'
import { SafeText } from '../shared/SafeText.tsx'
import { shorten } from '../shared/ShortAddress.tsx'
import type { Move } from './describeRecord.ts'
import type { Tokens } from './useTokens.ts'

/** What the native currency of a chain is called and how it is written. */
export interface Currency {
  readonly symbol: string
  readonly decimals: number
}

/** An amount of the native currency, in a unit small enough that not all of its digits are cut. */
export function NativeAmount({
  value,
  currency,
  signed = false
}: {
  value: bigint
  currency: Currency
  signed?: boolean
}) {
  return <Amount value={value} signed={signed} {...unitFor(value, currency)} />
}

function unitFor(value: bigint, { symbol, decimals }: Currency): { unit: string; decimals: number } {
  const size = value < 0n ? -value : value
  if (decimals !== 18 || size === 0n || size >= 10n ** 12n) return { unit: symbol, decimals }
  return size < 10n ** 6n ? { unit: 'wei', decimals: 0 } : { unit: 'gwei', decimals: 9 }
}

/** An ERC-721 token, which is one of its kind. */
const oneOf = { in: '+1', out: '−1', self: '1' } as const

/** One thing that moved, with its sign and unit. */
export function MoveAmount({ move, tokens, currency }: { move: Move; tokens: Tokens; currency: Currency }) {
  const { direction, token } = move
  const value = direction === 'out' ? -move.amount : move.amount
  const isSigned = direction === 'in'
  const facts = token && tokens.get(token.address.toLowerCase())
  const tone = direction === 'in' ? 'move good' : 'move'
  if (token === undefined) {
    return (
      <span className={tone}>
        <NativeAmount value={value} currency={currency} signed={isSigned} />
      </span>
    )
  }
  // Two contracts may have one name: the address is in the title.
  const name = cutText(facts?.symbol ?? '', 14) || shorten(token.address)
  const shownName = <SafeText text={name} limit={14} />
  if (token.id !== undefined) {
    const isMany = token.standard === 'ERC-1155' || token.lastId !== undefined
    return (
      <span className={tone} title={`${token.standard} ${token.address}`}>
        {isMany ? <Amount value={value} decimals={0} signed={isSigned} /> : oneOf[direction]}
        {' × '}
        {shownName} <IdText id={token.id} />
        {token.lastId !== undefined && (
          <>
            {' to '}
            <IdText id={token.lastId} />
          </>
        )}
        {facts?.spam && <SpamBadge spam={facts.spam} />}
      </span>
    )
  }
  return (
    <span className={tone} title={`${token.standard} ${token.address}`}>
      {facts?.decimals === undefined ? (
        <>
          <Amount value={value} decimals={0} signed={isSigned} /> base units of {shownName}
        </>
      ) : (
        <Amount value={value} decimals={facts.decimals} unit={name} signed={isSigned} />
      )}{' '}
      {facts?.spam && <SpamBadge spam={facts.spam} />}
    </span>
  )
}

function IdText({ id }: { id: string }) {
  return <SafeText text={`#${id}`} limit={10} />
}
