import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { type Block, type Problem, placeOf, repository } from './readBlocks.ts'

/** Languages that something checks, and those of output and pictures. */
const known = new Set(['ts', 'tsx', 'json', 'yaml', 'sh', 'sql', 'text', ''])

/** Whether it is taken out of all checks, with a reason. */
export const isExcused = ({ notes }: Block) => notes.has('not run')

/** Finds what nothing checks and nobody excused, excuses without a reason, and files that are shown otherwise than they are. */
export function checkCoverage(block: Block): Problem[] {
  const problems: Problem[] = []
  const tell = (message: string) => problems.push({ at: placeOf(block), message })
  if (!known.has(block.language) && !isExcused(block)) {
    tell(`nothing checks ${block.language}: say why with <!-- not run: reason -->`)
  }
  for (const note of ['not run', 'types only'] as const) {
    if (block.notes.get(note) === '') tell(`a reason is missing behind "${note}"`)
  }
  const file = block.notes.get('file')
  if (
    file !== undefined &&
    block.code !== readFileSync(join(repository, dirname(block.page), file), 'utf8')
  ) {
    tell(`differs from ${file}`)
  }
  return problems
}

/** What a parser of YAML says. */
export function checkYaml(block: Block): Problem[] {
  const errors = parseAllDocuments(block.code).flatMap(document => document.errors)
  return errors.map(({ message, linePos }) => ({ at: placeOf(block, linePos?.[0].line), message }))
}
