import { shownValue } from '../shared/formatAmount.ts'
import { SafeText } from '../shared/SafeText.tsx'

/** What something is worth by the prices of the host, in hundredths of the currency. */
export function Value({ value, currency }: { value: bigint; currency: string }) {
  return (
    <span className="value quiet">
      ≈ {shownValue(value)} <SafeText text={currency} limit={12} />
    </span>
  )
}
