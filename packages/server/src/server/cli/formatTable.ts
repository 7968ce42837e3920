/** A column: its title, and the text of a row's cell. */
export type Column<Row> = readonly [title: string, cell: (row: Row) => string]

/** A table with a line of titles and one line per row, aligned by blanks; the last column may be of any width. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const lines = [columns.map(([title]) => title), ...rows.map(row => columns.map(([, cell]) => cell(row)))]
  const widths = columns.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)))
  return lines
    .map(line =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()
    )
    .join('\n')
}
