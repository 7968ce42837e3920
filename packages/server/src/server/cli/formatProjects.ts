import { type Column, formatTable } from './formatTable.ts'
import type { ListedProject } from './listProjects.ts'

interface Row {
  readonly project: ListedProject
  readonly key: ListedProject['keys'][number]
}

const columns: readonly Column<Row>[] = [
  ['PROJECT', ({ project }) => project.projectId],
  ['KEY', ({ key }) => key.id ?? 'plain text'],
  ['KIND', ({ key }) => key.kind],
  ['NAME', ({ key }) => key.name ?? '-'],
  ['CREATED', ({ key }) => key.createdAt ?? '-'],
  ['EXPIRES', ({ key: { expiresAt = '-', ended } }) => (ended ? `${expiresAt} (ended)` : expiresAt)],
  ['SOURCE', ({ project }) => project.source],
  // Last, because there may be many.
  ['ORIGINS', ({ key }) => (key.origins ?? ['-']).join(' ')]
]

/** A table with one line per key, aligned by blanks. `-`: not known, or nothing of the kind. */
export function formatProjects(projects: readonly ListedProject[]): string {
  const rows = projects.flatMap(project => project.keys.map((key): Row => ({ project, key })))
  return formatTable(columns, rows)
}
