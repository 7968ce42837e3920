import { cutText } from './cutText.ts'
import { exactAmount, shownAmount } from './formatAmount.ts'
import { SafeText } from './SafeText.tsx'

/** What an {@link Amount} shows. */
export interface AmountProps {
  /** In base units. */
  value: bigint
  decimals: number
  /** Symbol of the currency or token; it may come from a chain. */
  unit?: string
  /** Most digits behind the decimal sign; default 6. All of them are in the title, and copied. */
  maxFraction?: number
  /** Shows a plus before what is above zero: for changes. */
  signed?: boolean
}

/** An exact amount: tabular, cut for the eye, whole on hover and when it is copied. */
export function Amount({ value, decimals, unit = '', maxFraction = 6, signed = false }: AmountProps) {
  const exact = exactAmount(value, decimals)
  const plus = signed && value > 0n ? '+' : ''
  return (
    <span
      className="amount"
      title={`${exact}${unit === '' ? '' : ` ${cutText(unit, 40)}`}`}
      data-exact={exact}
    >
      {plus}
      {shownAmount(value, decimals, maxFraction)}
      {unit !== '' && (
        <>
          {' '}
          <SafeText className="unit" text={unit} limit={12} />
        </>
      )}
    </span>
  )
}
