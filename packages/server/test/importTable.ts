import { readFileSync } from 'node:fs'

const page = new URL('../../../docs/architecture.md', import.meta.url)

/** What a module may import besides itself and what everyone may: the table of docs/architecture.md. */
export function readImportTable(): Readonly<Record<string, readonly string[]>> {
  const [, section = ''] = readFileSync(page, 'utf8').split(/^## Modules of the server$/m)
  const rows = [...section.split(/^## /m, 1)[0]!.matchAll(/^\| (`.+?) \| .* \| (.+) \|$/gm)]
  return Object.fromEntries(
    rows.flatMap(([, modules = '', cell = '']) => {
      const names = [...modules.matchAll(/`([^`]+?)\/?`/g)].map(([, name = '']) => name)
      return names.map(name => [name, modulesOf(cell)])
    })
  )
}

function modulesOf(cell: string): string[] {
  if (cell === '—' || cell === 'nothing') return []
  return cell.split(', ')
}
