import { isConfirmed, type TransactionRecord } from '@chain-data/client/fetch'

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })
const nearDates = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' })

/** The day of a moment where the reader is, such that two moments of one day have the same. @param seconds - Unix time. */
export function dayOf(seconds: number): string {
  const date = new Date(seconds * 1000)
  return `${date.getFullYear()}-${date.getMonth() + 1}-${date.getDate()}`
}

/** A record, with the name of its day where it is the first of it. */
export interface DayRow {
  readonly record: TransactionRecord
  readonly day?: string
}

/** Puts records under the days they belong to, those that wait under a heading of their own. @param today - See {@link dayOf}. */
export function underDays(records: readonly TransactionRecord[], today: string): DayRow[] {
  let before = ''
  return records.map(record => {
    const day = isConfirmed(record) ? dayOf(record.timestamp) : 'waiting'
    if (day === before) return { record }
    before = day
    return { record, day: isConfirmed(record) ? dayName(record.timestamp, today) : 'Waiting for a block' }
  })
}

/** What the day of a moment is called: "Today", "Yesterday", or its date, with the year where that is not this one. */
export function dayName(seconds: number, today: string): string {
  const day = dayOf(seconds)
  if (day === today) return 'Today'
  const date = new Date(seconds * 1000)
  const next = new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1)
  if (dayOf(next.getTime() / 1000) === today) return 'Yesterday'
  return (today.startsWith(`${date.getFullYear()}-`) ? nearDates : dates).format(date)
}
