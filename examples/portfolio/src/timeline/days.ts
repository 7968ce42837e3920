const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' })
const nearDates = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' })

/** The day of a moment where the reader is, such that two moments of one day have the same. @param seconds - Unix time. */
export function dayOf(seconds: number): string {
  const date = new Date(seconds * 1000)
  return `${date.getFullYear()}-${date.getMonth() + 1}-${date.getDate()}`
}

/** What the day of a moment is called: "Today", "Yesterday", or its date, with the year where that is not this one. */
export function dayName(seconds: number, nowSeconds: number): string {
  if (dayOf(seconds) === dayOf(nowSeconds)) return 'Today'
  const yesterday = new Date(nowSeconds * 1000)
  yesterday.setDate(yesterday.getDate() - 1)
  if (dayOf(seconds) === dayOf(yesterday.getTime() / 1000)) return 'Yesterday'
  const isThisYear = new Date(seconds * 1000).getFullYear() === new Date(nowSeconds * 1000).getFullYear()
  return (isThisYear ? nearDates : dates).format(new Date(seconds * 1000))
}
