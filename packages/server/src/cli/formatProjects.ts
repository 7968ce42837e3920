import type { ListedProject } from './listProjects.ts'

type Row = readonly [project: ListedProject, key: ListedProject['keys'][number]]

const columns: readonly (readonly [string, (...row: Row) => string])[] = [
  ['PROJECT', ({ projectId }) => projectId],
  ['KEY', (_, { id = 'plain text' }) => id],
  ['KIND', (_, { kind }) => kind],
  ['NAME', (_, { name = '-' }) => name],
  ['CREATED', (_, { createdAt = '-' }) => createdAt],
  ['EXPIRES', (_, { expiresAt = '-', ended }) => (ended ? `${expiresAt} (ended)` : expiresAt)],
  ['SOURCE', ({ source }) => source],
  // Last, because there may be many.
  ['ORIGINS', (_, { origins = ['-'] }) => origins.join(' ')]
]

/** A table with one line per key, aligned by blanks. `-`: not known, or nothing of the kind. */
export function formatProjects(projects: readonly ListedProject[]): string {
  const rows = projects.flatMap(project => project.keys.map((key): Row => [project, key]))
  const lines = [columns.map(([title]) => title), ...rows.map(row => columns.map(([, cell]) => cell(...row)))]
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
