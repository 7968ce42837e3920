import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { repository } from './readBlocks.ts'

const docs = `${repository}/docs`
const readPage = (name: string) => readFileSync(`${docs}/${name}`, 'utf8')
const pages = readdirSync(docs).filter(name => name.endsWith('.md') && name !== 'README.md')

/** Longest page without a reason to be longer, in words outside of code. */
const maxWords = 1200

/** Longer pages, and why each is not divided. A page that has become short leaves this list. */
const longPages: Readonly<Record<string, string>> = {
  'architecture.md': 'a table with one line for each folder; one test reads it whole',
  'configuration.md': 'a table of every key, looked up by name; one test compares it with the schema',
  'deep-history.md': 'one subject; its parts refer to each other',
  'errors.md': 'mostly generated: every error case, looked up by name',
  'holdings.md': 'a table of every kind of contract, looked up by name',
  'lifecycle.md': 'one request and one block, each followed without a turn to another page',
  'logs.md': 'a table of every message, looked up by its text; one test compares it with the code',
  'metrics.md': 'a table of every metric, looked up by name; one test compares it with the code',
  'sizing.md': 'measured figures with what each was measured on',
  'solana.md': 'one chain family; its parts refer to each other',
  'storage.md': 'one format; its parts are read beside each other',
  'verified-history.md': 'one proof; its steps build on each other'
}

/** Pages of a shelf: those to read in order, and those to look up. */
function shelfOf(title: string): { read: string[]; lookedUp: string[] } {
  const shelf =
    readPage('README.md')
      .split(/^## /m)
      .find(part => part.startsWith(`${title}\n`)) ?? ''
  const links = (lines: readonly string[]) =>
    lines.flatMap(line => [...line.matchAll(/\]\(([^)#]+)\)/g)].map(([, target = '']) => target))
  const lines = shelf.split('\n')
  return {
    read: links(lines.filter(line => /^\d+\. /.test(line))),
    lookedUp: links(lines.filter(line => line.startsWith('|')))
  }
}

/** Words a person reads: code is left out. */
const countWords = (text: string) => text.replace(/^( *)```.*\n[\s\S]*?^\1``` *$/gm, '').split(/\s+/).length

describe('the three shelves of docs/README.md', () => {
  const shelves = ['Use it', 'Run it', 'Internals'].map(title => ({ title, ...shelfOf(title) }))

  it('hold every page of docs once', () => {
    const shelved = shelves.flatMap(({ read, lookedUp }) => [...read, ...lookedUp])
    expect(shelved.filter(name => !name.includes('/')).sort()).toEqual([...pages].sort())
  })

  it.each([
    ['Use it', 5],
    ['Run it', 8]
  ])('have few pages to read: %s at most %i', (title, most) => {
    const { read } = shelfOf(title)
    expect(read.length).toBeGreaterThan(0)
    expect(read.length).toBeLessThanOrEqual(most)
  })

  it('say where to stop reading', () => {
    const text = readPage('README.md').split(/^## /m).slice(1)
    expect(text.filter(shelf => shelf.includes('**Stop here')).length).toBe(shelves.length)
  })
})

describe('the length of the pages', () => {
  const words = new Map(pages.map(name => [name, countWords(readPage(name))]))

  it(`is at most ${maxWords} words, or has a reason`, () => {
    const long = pages.filter(name => words.get(name)! > maxWords).sort()
    expect(long).toEqual(Object.keys(longPages).sort())
  })

  it('is short where pages are read from the top', () => {
    const { read } = shelfOf('Use it')
    expect(read.filter(name => words.get(name)! > maxWords)).toEqual([])
  })
})
