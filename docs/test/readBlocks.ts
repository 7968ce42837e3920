import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Folder of the repository, without a slash at its end. */
export const repository = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** A fenced block of a page, with what the comments above it say of it. */
export interface Block {
  /** From the folder of the repository on. */
  readonly page: string
  /** Line of the fence, counted from 1: the line before the first line of the code. */
  readonly line: number
  /** First word behind the fence; empty where there is none. */
  readonly language: string
  /** Without the indentation of the fence; ends with a line break. */
  readonly code: string
  /** Keyword of each comment and what follows its colon. */
  readonly notes: ReadonlyMap<Note, string>
}

const keywords = ['given', 'continues', 'types only', 'not run', 'configuration', 'printed', 'file'] as const

/** What a comment on the line above a fence may say; docs/test/README.md tells what each means. */
export type Note = (typeof keywords)[number]

/** Something wrong in a page. */
export interface Problem {
  /** `page:line`. */
  readonly at: string
  readonly message: string
}

/** Where a block is found, or one of its lines: the first line of its code is 1. */
export const placeOf = ({ page, line }: Block, lineOfCode = 0) => `${page}:${line + lineOfCode}`

/** Folders of what others wrote, and what is made from pages or changesets. */
const skipped = new Set(['node_modules', 'dist', 'site', '.tmp', 'CHANGELOG.md'])

/** The pages that people read: all but changesets, which become pages later. */
export function listPages(): string[] {
  const exclude = (path: string) => skipped.has(basename(path))
  return globSync('**/*.md', { cwd: repository, exclude }).sort()
}

/** The blocks of a page of the repository, and the commands in its text. */
export function readPage(page: string): { blocks: Block[]; spans: Block[]; problems: Problem[] } {
  const text = readFileSync(`${repository}/${page}`, 'utf8')
  return { ...readBlocks(page, text), spans: readSpans(page, text) }
}

/**
 * Takes a page apart.
 *
 * @returns Its fenced blocks, in order, and fences that nothing closes.
 */
export function readBlocks(page: string, text: string): { blocks: Block[]; problems: Problem[] } {
  const lines = text.split('\n')
  const blocks: Block[] = []
  const problems: Problem[] = []
  for (let index = 0; index < lines.length; index++) {
    const opening = /^( *)(`{3,}|~{3,})\s*([^\s`]*)/.exec(lines[index]!)
    if (opening === null) continue
    const [, indentation = '', fence = '', language = ''] = opening
    const isClosing = (line: string) => line.trim().startsWith(fence) && /^ *(`+|~+) *$/.test(line)
    const length = lines.slice(index + 1).findIndex(isClosing)
    if (length < 0) {
      problems.push({ at: `${page}:${index + 1}`, message: 'nothing closes this fence' })
      break
    }
    const code = lines.slice(index + 1, index + 1 + length).map(line => withoutIndentation(line, indentation))
    const notes = readNotes(lines.slice(0, index))
    blocks.push({ page, line: index + 1, language, code: code.map(line => `${line}\n`).join(''), notes })
    index += length + 1
  }
  return { blocks, problems }
}

/** Commands of npm in the text of a page, each as a block; those with a place for something are left out. */
export function readSpans(page: string, text: string): Block[] {
  const blocks: Block[] = []
  // Fenced blocks stay as empty lines, so that lines keep their numbers.
  const prose = text.replace(/^( *)(```|~~~)[\s\S]*?^\1\2 *$/gm, fenced => fenced.replace(/[^\n]/g, ''))
  for (const [index, line] of prose.split('\n').entries()) {
    for (const [, code = ''] of line.matchAll(/`((?:[A-Z_\d]+=\S+ )*np[mx] [^`<[…]+)`/g)) {
      blocks.push({ page, line: index + 1, language: 'sh', code: `${code}\n`, notes: new Map() })
    }
  }
  return blocks
}

function withoutIndentation(line: string, indentation: string): string {
  return line.startsWith(indentation) ? line.slice(indentation.length) : line.trimStart()
}

/** The comments that stand directly above the end of `lines`, one or more on lines of their own. */
function readNotes(lines: readonly string[]): ReadonlyMap<Note, string> {
  const notes = new Map<Note, string>()
  for (let index = lines.length - 1; index >= 0; index--) {
    const [, comment] = /^\s*<!--\s*(.*?)\s*-->\s*$/.exec(lines[index]!) ?? []
    if (comment === undefined) break
    const keyword = keywords.find(word => comment === word || comment.startsWith(`${word}:`))
    if (keyword !== undefined) notes.set(keyword, comment.slice(keyword.length + 1).trim())
  }
  return notes
}
