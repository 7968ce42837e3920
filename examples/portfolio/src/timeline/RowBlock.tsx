import { memo, useEffect, useRef, useState } from 'react'
import type { DayRow } from './days.ts'
import type { Currency } from './MoveAmount.tsx'
import { RecordRow } from './RecordRow.tsx'
import type { Tokens } from './useTokens.ts'

const rowsOfBlock = 50
/** Most rows that may be the first of those that are kept in one piece. */
const mostLive = 100
/** How far from the window rows are still kept, in pixels. */
const near = 3000

/** What a {@link RowBlock} shows. */
interface RowBlockProps {
  rows: readonly DayRow[]
  address: string
  chainId: number
  currency: Currency
  tokens: Tokens
}

/**
 * Older rows, as long as they are near the window; else as much empty room, so that a history of ten thousand takes no more
 * than what is seen of it.
 */
export const RowBlock = memo(function RowBlock({ rows, ...common }: RowBlockProps) {
  const box = useRef<HTMLDivElement>(null)
  const [emptyHeight, setEmptyHeight] = useState<number>()
  useEffect(() => {
    const { current } = box
    if (current === null) return
    const look: IntersectionObserverCallback = entries => {
      const { isIntersecting, boundingClientRect } = entries.at(-1) as IntersectionObserverEntry
      // Whoever has the focus keeps it.
      if (isIntersecting) setEmptyHeight(undefined)
      else if (!current.contains(document.activeElement)) setEmptyHeight(boundingClientRect.height)
    }
    const observer = new IntersectionObserver(look, { rootMargin: `${near}px` })
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={box} style={emptyHeight === undefined ? undefined : { height: emptyHeight }}>
      {emptyHeight === undefined && (
        <ol className="records">
          {rows.map(({ record, day }) => (
            <RecordRow key={record.hash} {...{ record, day, ...common }} isNew={false} />
          ))}
        </ol>
      )}
    </div>
  )
}, isSame)

function isSame(before: RowBlockProps, after: RowBlockProps): boolean {
  const names = ['address', 'chainId', 'currency', 'tokens'] as const
  return (
    names.every(name => before[name] === after[name]) &&
    before.rows.length === after.rows.length &&
    before.rows.every(({ record, day }, place) => {
      const other = after.rows[place]
      return record === other?.record && day === other.day
    })
  )
}

/**
 * Divides rows into those at the top, which come and move, and blocks of older ones, which stay where they are.
 *
 * @remarks The border is a record: whatever comes above it, the blocks below are the same.
 */
export function useOldRows(rows: readonly DayRow[]): [live: readonly DayRow[], old: (readonly DayRow[])[]] {
  const [border, setBorder] = useState(() => borderOf(rows))
  const place = rows.findIndex(({ record }) => record.hash === border)
  // A reorg may take it away.
  if (place < 0 && border !== borderOf(rows)) setBorder(borderOf(rows))
  const end = place < 0 ? Math.min(rows.length, mostLive) : place + 1
  const old: (readonly DayRow[])[] = []
  for (let from = end; from < rows.length; from += rowsOfBlock) old.push(rows.slice(from, from + rowsOfBlock))
  return [rows.slice(0, end), old]
}

function borderOf(rows: readonly DayRow[]): string | undefined {
  return rows[Math.min(rows.length, mostLive) - 1]?.record.hash
}
