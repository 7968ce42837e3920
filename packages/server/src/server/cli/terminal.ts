/** A column: its title, and the text of a row's cell. */
export type Column<Row> = readonly [title: string, cell: (row: Row) => string]

/** A table with a line of titles and one line per row; the last column may be of any width. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = rows.map(row => columns.map(([, cell]) => cell(row)))
  return alignColumns([columns.map(([title]) => title), ...cells])
}

/** Lines of cells, aligned by blanks. */
export function alignColumns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map(line => line[column]?.length ?? 0))
  )
  return lines
    .map(line =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}

/** Nodes may put anything into their errors; a terminal must not obey it. */
export function oneLine(value: string): string {
  return value.replace(/\p{Cc}+/gu, ' ')
}

/** JSON in which no character can move a cursor. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^ -~]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  )
}

/** Clears a line of a terminal from the cursor on. */
export const clearRest = '\u001b[K'

/** Words a span of time, such as `1m30s`. */
export function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds)
  if (whole < 60) return `${whole}s`
  if (whole < 3_600) return `${Math.floor(whole / 60)}m${whole % 60}s`
  return `${Math.floor(whole / 3_600)}h${Math.floor((whole % 3_600) / 60)}m`
}

/** A chain as a person at the terminal knows it. */
export interface ChainWords {
  readonly name: string
  /** Host and port of each node, in the order of `rpcUrls`. */
  readonly hosts: readonly string[]
}
