import { readFileSync } from 'node:fs'

const page = new URL('../../../docs/architecture.md', import.meta.url)

/** What a module of a package may import besides itself and what everyone may: its table of docs/architecture.md. */
export function readImportTable(name: 'server' | 'index'): Readonly<Record<string, readonly string[]>> {
  const [, section = ''] = readFileSync(page, 'utf8').split(new RegExp(`^## Modules of the ${name}$`, 'm'))
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
