import { existsSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Block, type Note, type Problem, placeOf, repository } from './readBlocks.ts'

const givenFolder = fileURLToPath(new URL('given', import.meta.url))

/** Blocks of a page that are one module of TypeScript: the first stands alone, each of the others continues it. */
export interface PageModule {
  /** Where it would be as a file: beside its page. There is none. */
  readonly path: string
  readonly blocks: readonly Block[]
  readonly source: string
  /** Why it is not run. */
  readonly typesOnly?: string
}

/** The modules of one page, in order, and what is wrong with the comments that join them. */
export function joinModules(blocks: readonly Block[]): { modules: PageModule[]; problems: Problem[] } {
  const chains: Block[][] = []
  const problems: Problem[] = []
  for (const block of blocks) {
    if (!isTypeScript(block) || block.notes.has('not run')) continue
    if (!block.notes.has('continues')) chains.push([block])
    else if (chains.length > 0) chains.at(-1)!.push(block)
    else problems.push({ at: placeOf(block), message: 'there is no block above that it could continue' })
    for (const name of givenNames(block)) {
      if (!existsSync(givenFile(name)))
        problems.push({ at: placeOf(block), message: `docs/test/given/${name}.ts is missing` })
    }
  }
  return { modules: chains.map(toModule), problems }
}

const isTypeScript = ({ language }: Block) => language === 'ts' || language === 'tsx'

/** Where a line of a module stands on its page. @param line - Counted from 1; line 1 is what is given. */
export function placeInModule({ blocks }: PageModule, line: number): string {
  let rest = line - 1
  for (const block of blocks) {
    const count = block.code.split('\n').length - 1
    if (rest <= count) return placeOf(block, rest)
    rest -= count
  }
  return placeOf(blocks.at(-1)!)
}

function toModule(blocks: readonly Block[]): PageModule {
  const first = blocks[0]!
  const isTsx = blocks.some(({ language }) => language === 'tsx')
  const path = `${repository}/${first.page}.${first.line}.${isTsx ? 'tsx' : 'ts'}`
  const reason = isTsx ? 'Node runs no JSX' : (noteOf(blocks, 'types only') ?? noteOf(blocks, 'file'))
  const names = new Set(blocks.flatMap(givenNames))
  const imports = [...names].map(
    name => `import { ${name} } from './${relative(dirname(path), givenFile(name))}'; `
  )
  // One line, so that the lines of the code are easily found again.
  const source = `${imports.join('')}\n${blocks.map(({ code }) => code).join('')}`
  return { path, blocks, source, ...(reason === undefined ? {} : { typesOnly: reason }) }
}

function noteOf(blocks: readonly Block[], note: Note): string | undefined {
  return blocks.map(({ notes }) => notes.get(note)).find(text => text !== undefined)
}

function givenNames({ notes }: Block): string[] {
  const names = notes.get('given')?.split(',') ?? []
  return names.map(name => name.trim())
}

const givenFile = (name: string) => `${givenFolder}/${name}.ts`
