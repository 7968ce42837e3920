const inCode = (text: string) => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)

/** Cells of the tables below a heading; the first two lines of a table are no rows. */
function cellsBelow(page: string, heading: RegExp): string[][] {
  const [, section = ''] = page.split(heading)
  const [text = ''] = section.split(/^## /m)
  const lines = text.split('\n').filter(line => line.startsWith('|'))
  return lines.slice(2).map(line =>
    line
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim())
  )
}

type Rows = { readonly base: string; readonly cell: string }[]

/** The paths in a list of modules. A cell that begins with `…` is about what lies in the module before. */
function pathsIn(rows: Rows): string[] {
  let parent = ''
  return rows.flatMap(({ base, cell }) => {
    const isInside = cell.startsWith('…')
    const names = inCode(cell).map(name => (isInside ? parent : base) + name)
    if (!isInside) parent = names.findLast(name => name.endsWith('/')) ?? base
    return names
  })
}

/** Folders and files that the page's tables are about, as paths of the repository. */
function readTables(page: string): string[] {
  const top = cellsBelow(page, /^# Architecture$/m).map(([cell = '']) => ({ base: '', cell }))
  const [server, index] = (['server', 'index'] as const).map(name =>
    cellsBelow(page, new RegExp(`^## Modules of the ${name}$`, 'm')).map(([cell = '']) => ({
      base: `packages/${name}/src/`,
      cell
    }))
  ) as [Rows, Rows]
  let base = ''
  const others = cellsBelow(page, /^## Modules of the other packages$/m).map(([owner = '', cell = '']) => {
    const [folder] = inCode(owner)
    if (folder !== undefined) base = `${folder}src/`
    return { base, cell }
  })
  return [top, server, index, others].flatMap(pathsIn)
}

/** Folders in a folder, as paths that end in a slash. */
function foldersIn(folder: string, files: readonly string[]): string[] {
  const inside = files.filter(file => file.startsWith(folder)).map(file => file.slice(folder.length))
  const names = inside.filter(file => file.includes('/')).map(file => file.slice(0, file.indexOf('/') + 1))
  return [...new Set(names)].map(name => folder + name)
}

/** A folder whose own folders are the modules, such as `packages/`. */
const isShelf = (folder: string, names: ReadonlySet<string>) =>
  !names.has(folder) && [...names].some(name => name.startsWith(folder))

/**
 * Folders that the page should tell of and does not: those of the repository, those below each package's `src/` and those
 * in each of these.
 *
 * @param files - Paths of the repository.
 */
export function unnamedFolders(page: string, files: readonly string[]): string[] {
  const names = new Set(readTables(page))
  const top = foldersIn('', files).flatMap(folder =>
    folder === 'packages/' ? foldersIn(folder, files) : [folder]
  )
  const known = top.filter(folder => names.has(folder) && folder.startsWith('packages/'))
  const modules = known
    .flatMap(folder => foldersIn(`${folder}src/`, files))
    .flatMap(folder => (isShelf(folder, names) ? foldersIn(folder, files) : [folder]))
  const inModules = modules.filter(folder => names.has(folder)).flatMap(folder => foldersIn(folder, files))
  return [...top, ...modules, ...inModules.filter(folder => !folder.endsWith('/test/'))].filter(
    folder => !names.has(folder)
  )
}

/**
 * Names of the page that nothing in the repository has: what its tables are about, and each file of TypeScript that it
 * mentions anywhere.
 */
export function wrongNames(page: string, files: readonly string[]): string[] {
  const exists = (name: string) =>
    files.some(file => (name.endsWith('/') ? file.startsWith(name) : file === name))
  const mentioned = inCode(page).filter(name => /^[\w./-]+\.ts$/.test(name))
  const isLost = (name: string) => !files.some(file => `/${file}`.endsWith(`/${name}`))
  return [...readTables(page).filter(name => !exists(name)), ...mentioned.filter(isLost)]
}

/** Lines of the table of dependencies, as `packages/server/ zod`. */
export function namedDependencies(page: string): string[] {
  let owner = ''
  return cellsBelow(page, /^## Dependencies$/m).flatMap(([first = '', names = '']) => {
    owner = inCode(first)[0] ?? owner
    return inCode(names).map(name => `${owner} ${name}`)
  })
}
