/** Strokes of every icon, on a square of 16. */
const paths = {
  check: 'M3 8.5l3.2 3.2L13 5',
  cross: 'M4 4l8 8M12 4l-8 8',
  copy: 'M6 6V3h7v7h-3M3 6h7v7H3z',
  clock: 'M8 4.5V8l2.5 1.5M8 2a6 6 0 100 12A6 6 0 008 2z',
  warning: 'M8 2.5l6 11H2zM8 6.5v3M8 11.6v.1',
  info: 'M8 2a6 6 0 100 12A6 6 0 008 2zM8 7.5v3.5M8 5v.1',
  empty: 'M2.5 9.5l2-6h7l2 6v3.5h-11zM2.5 9.5h3l1 1.5h3l1-1.5h3',
  search: 'M7 2.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9zM10.4 10.4l3.1 3.1',
  flag: 'M4 14V2.5M4 3h8l-1.8 2.7L12 8.5H4',
  up: 'M8 13V3M4 7l4-4 4 4',
  down: 'M8 3v10M4 9l4 4 4-4',
  both: 'M5 13V3M2 6l3-3 3 3M11 3v10M8 10l3 3 3-3',
  code: 'M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5',
  plus: 'M8 3v10M3 8h10',
  shield: 'M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM5.7 8l1.7 1.7L10.5 6.5',
  chevron: 'M4.5 6.5L8 10l3.5-3.5',
  question: 'M5.8 6a2.2 2.2 0 113 2.1c-.6.3-.8.7-.8 1.4M8 12v.1',
  sun: 'M8 5a3 3 0 100 6 3 3 0 000-6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7',
  moon: 'M13 9.5A5.5 5.5 0 016.5 3a5.5 5.5 0 106.5 6.5z',
  halves: 'M8 2a6 6 0 100 12A6 6 0 008 2zM8 2v12M8 5h5M8 8h6M8 11h5',
  image: 'M2.5 3h11v10h-11zM2.5 11l3-3 2.5 2.5 2-2 3.5 3.5M10.5 6v.1'
} as const

/** Name of an icon. */
export type IconName = keyof typeof paths

/** An icon that says nothing by itself: a word belongs beside it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}
