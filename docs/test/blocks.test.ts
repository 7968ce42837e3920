import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { surfpoolUnsupportedReason } from '@chain-data/devnet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkCoverage, checkYaml, isExcused } from './checkCoverage.ts'
import { checkJson } from './checkJson.ts'
import { checkPrinted } from './checkPrinted.ts'
import { checkShell } from './checkShell.ts'
import { checkTypes } from './checkTypes.ts'
import { joinModules, type PageModule } from './joinModules.ts'
import {
  type Block,
  listPages,
  type Problem,
  placeOf,
  readBlocks,
  readPage,
  repository
} from './readBlocks.ts'
import type { ShellCommand } from './readCommands.ts'
import { type CommandRun, commandsToRun, curlMissingReason, runCommand } from './runCommands.ts'
import { runModules } from './runModules.ts'
import { runSql } from './runSql.ts'
import { type Service, startService } from './startService.ts'
import { withoutAddresses } from './withAddresses.ts'

const pages = listPages().map(name => ({ name, ...readPage(name) }))
const blocks = pages.flatMap(page => page.blocks)
const joined = pages.map(page => ({ page: page.name, ...joinModules(page.blocks) }))

const ofLanguage = (some: readonly Block[], language: string) =>
  some.filter(block => block.language === language && !isExcused(block))

const told = (problems: readonly Problem[]) => problems.map(({ at, message }) => `${at}: ${message}`)

describe('the blocks of the pages', () => {
  it('are found', () => {
    expect(pages.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['README.md', 'docs/getting-started.md', 'packages/client/README.md'])
    )
    expect(ofLanguage(blocks, 'ts').length).toBeGreaterThan(20)
    expect(ofLanguage(blocks, 'sh').length).toBeGreaterThan(20)
  })

  it('are closed, and find what their comments name', () => {
    expect(told([...pages, ...joined].flatMap(({ problems }) => problems))).toEqual([])
  })

  it('are all checked, or it is said why not', () => {
    expect(told(blocks.flatMap(checkCoverage))).toEqual([])
  })

  it('fit the document and the schema of the configuration when they are JSON', () => {
    expect(told(pages.flatMap(page => checkJson(ofLanguage(page.blocks, 'json'))))).toEqual([])
  })

  it('parse when they are YAML', () => {
    expect(told(ofLanguage(blocks, 'yaml').flatMap(checkYaml))).toEqual([])
  })

  it('name programs, scripts, flags and variables that exist when they are commands', () => {
    expect(told(ofLanguage(blocks, 'sh').flatMap(checkShell))).toEqual([])
  })

  it('are joined by commands in the text that exist as well', () => {
    const spans = pages.flatMap(page => page.spans)
    expect(spans.length).toBeGreaterThan(20)
    // A command that is only named may lack its arguments.
    const problems = spans
      .flatMap(checkShell)
      .filter(({ message }) => !message.includes('missing required argument'))
    expect(told(problems)).toEqual([])
  })

  it('run on PostgreSQL when they are SQL', async () => {
    const statements = ofLanguage(blocks, 'sql')
    expect(statements).not.toEqual([])
    expect(told(await runSql(statements))).toEqual([])
  })
})

describe('the TypeScript of the pages', () => {
  /** Wrong on purpose, and part of the same program, which takes seconds to make. */
  const wrongPage = [
    ...[
      '```ts',
      "import { errors, isPending } from '@chain-data/protocol'",
      'const row = errors.NO_SUCH',
      '```'
    ],
    ...['<!-- continues -->', '<!-- given: address -->', '```ts', '', 'isPending(address)', '```'],
    ...['```ts', 'const alone: string = errors', '```'],
    ...['```tsx', 'export const one = <p>{address}</p>', '```']
  ]
  const wrong = joinModules(readBlocks('docs/wrong.md', wrongPage.join('\n')).blocks)
  let problems: readonly Problem[]

  beforeAll(() => {
    problems = checkTypes([...joined, wrong].flatMap(({ modules }) => modules))
  })

  it('fits the types of the packages', () => {
    expect(told(problems.filter(({ at }) => !at.startsWith('docs/wrong.md')))).toEqual([])
  })

  it('would be refused if it did not, at its line', () => {
    const places = problems.map(({ at }) => at).filter(at => at.startsWith('docs/wrong.md'))
    expect(places).toEqual([3, 9, 12, 15].map(line => `docs/wrong.md:${line}`))
  })
})

const isTestFile = ({ source }: PageModule) => /from 'vitest'$/m.test(source)

describe('the tests of the pages', async () => {
  const folder = fileURLToPath(new URL('.tmp', import.meta.url))
  afterAll(() => rmSync(folder, { recursive: true }))
  for (const module of joined.flatMap(({ modules }) => modules)) {
    if (module.typesOnly !== undefined || !isTestFile(module)) continue
    const place = relative(repository, module.path)
    await describe(place, async () => {
      const file = `${folder}/${place}`
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, module.source)
      await import(file)
    })
  }
})

describe('against a service over a devnet', () => {
  let service: Service
  const noSolana = surfpoolUnsupportedReason()
  const canRun = (code: string) => noSolana === undefined || !/chainId: 103|"chainId":\s*103/.test(code)

  if (noSolana !== undefined) it('asks the Solana cluster', context => context.skip(noSolana))

  const noCurl = curlMissingReason()
  if (noCurl !== undefined) it('is asked by curl', context => context.skip(noCurl))

  beforeAll(async () => {
    service = await startService()
  })

  afterAll(() => service?.close())

  const programs = joined.flatMap(({ page, modules }) => {
    const runnable = modules.filter(
      module => module.typesOnly === undefined && !isTestFile(module) && canRun(module.source)
    )
    return runnable.length > 0 ? [{ page, modules: runnable }] : []
  })

  const shellBlocks = ofLanguage(blocks, 'sh').filter(block => {
    const commands = commandsToRun(block)
    const hasPrograms = noCurl === undefined || commands.every(({ words }) => words[0] !== 'curl')
    return commands.length > 0 && hasPrograms && canRun(block.code)
  })

  it('shows as printed only what is run', () => {
    const run = new Set([
      ...programs.flatMap(({ modules }) => modules.map(({ blocks }) => blocks.at(-1))),
      ...shellBlocks
    ])
    const shown = pages.flatMap(({ name }) => printedBlocks(name)).filter(({ before }) => !run.has(before))
    // Without the Solana node less is run.
    expect(noSolana === undefined ? shown.map(each => placeOf(each.shown)) : []).toEqual([])
  })

  it.each(programs)('the TypeScript of $page runs', async ({ page, modules }) => {
    const runs = await runModules(modules, service)
    const problems = runs.flatMap(({ problem }) => problem ?? [])
    const outputs = new Map(runs.map(({ module, output }) => [module.blocks.at(-1)!, output]))
    expect(told([...problems, ...printedProblems(page, outputs, service)])).toEqual([])
  })

  // Pages say the same command in more than one place.
  const started = new Map<string, Promise<CommandRun>>()
  const runOnce = (block: Block, command: ShellCommand) => {
    const name = JSON.stringify([command.words, command.environment])
    const run = started.get(name) ?? runCommand(block, command, service)
    started.set(name, run)
    return run
  }

  it.each(shellBlocks.map(block => ({ place: placeOf(block), block })))(
    'the commands of $place are answered',
    async ({ block }) => {
      const problems: Problem[] = []
      let printed = ''
      for (const command of commandsToRun(block)) {
        const { output, problem } = await runOnce(block, command)
        printed += output
        if (problem !== undefined) problems.push(problem)
      }
      const outputs = new Map([[block, printed]])
      expect(told([...problems, ...printedProblems(block.page, outputs, service)])).toEqual([])
    }
  )
})

/** Blocks of a page that show what the block before them prints, where that was run. */
function printedProblems(page: string, outputs: ReadonlyMap<Block, string>, service: Service): Problem[] {
  return printedBlocks(page).flatMap(({ shown, before }) => {
    const output = before && outputs.get(before)
    return output === undefined ? [] : checkPrinted(shown, withoutAddresses(output, service))
  })
}

function printedBlocks(page: string): { shown: Block; before: Block | undefined }[] {
  const { blocks: all } = pages.find(({ name }) => name === page)!
  return all.flatMap((shown, index) =>
    shown.notes.has('printed') ? [{ shown, before: all[index - 1] }] : []
  )
}
