import { useNow } from './useNow.ts'

const steps: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60]
]
const relative = new Intl.RelativeTimeFormat('en')
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeStyle: 'long' })

/** A moment as people say it, with the exact one in the title. @param seconds - Unix time. */
export function When({ seconds }: { seconds: number }) {
  const now = useNow()
  const moment = new Date(seconds * 1000)
  // A host may say anything.
  if (Number.isNaN(moment.getTime())) return <>at an unknown time</>
  return (
    // It moves on by itself: nobody is to be told each time.
    <time aria-live="off" dateTime={moment.toISOString()} title={absolute.format(moment)}>
      {ago(seconds, now / 1000)}
    </time>
  )
}

/** "3 minutes ago"; what is less than half a minute away, also ahead (clocks differ), is "just now". */
export function ago(seconds: number, nowSeconds: number): string {
  const difference = seconds - nowSeconds
  if (Math.abs(difference) < 30) return 'just now'
  const [unit, length] = steps.find(([, each]) => Math.abs(difference) >= each) ?? ['second', 1]
  return relative.format(Math.trunc(difference / length), unit)
}
