import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const skipped = new Set([
  'node_modules',
  'dist',
  'site',
  '.git',
  'chain-data',
  '.tmp',
  '.changeset',
  'CHANGELOG.md'
])

function markdownFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    if (skipped.has(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return markdownFiles(path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}

/** Without what stands in code, which only looks like links and headings. */
function prose(text: string): string {
  return text.replace(/^( *)(```|~~~).*\n[\s\S]*?^\1\2 *$/gm, '')
}

/** Targets of the relative links of a page. */
function linksOf(file: string): string[] {
  const text = prose(readFileSync(file, 'utf8')).replace(/`[^`\n]+`/g, 'code')
  const targets = [...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target)
  return targets.filter(target => !/^[a-z][a-z0-9+.-]*:/i.test(target))
}

/** What a fragment may name: headings as they are turned into anchors, and explicit anchors. */
function anchorsOf(file: string): Set<string> {
  const text = prose(readFileSync(file, 'utf8'))
  const headings = [...text.matchAll(/^#{1,6} +(.+?) *$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
  )
  const explicit = [...text.matchAll(/<a id="([^"]+)"/g)].map(([, id = '']) => id)
  return new Set([...headings, ...explicit])
}

function problemOf(file: string, target: string): string | undefined {
  const [path = '', fragment] = target.split('#')
  const goal = path === '' ? file : resolve(dirname(file), decodeURIComponent(path))
  if (!existsSync(goal)) return 'no such file'
  if (relative(repository, goal).startsWith('..')) return 'leads out of the repository'
  if (fragment === undefined || statSync(goal).isDirectory()) return undefined
  return anchorsOf(goal).has(fragment) ? undefined : 'no such heading'
}

describe('the pages of the repository', () => {
  const files = markdownFiles(repository)
  const links = files.flatMap(file => linksOf(file).map(target => ({ file, target })))

  it('are found, links and all', () => {
    expect(files.map(file => relative(repository, file))).toContain('docs/getting-started.md')
    expect(links.length).toBeGreaterThan(50)
  })

  it('have no dead relative links', () => {
    const dead = links.flatMap(({ file, target }) => {
      const problem = problemOf(file, target)
      return problem === undefined ? [] : [`${relative(repository, file)}: ${target} (${problem})`]
    })
    expect(dead).toEqual([])
  })

  it('are all within reach of the README', () => {
    const reached = new Set<string>()
    const open = [join(repository, 'README.md')]
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      if (reached.has(file) || !file.endsWith('.md') || !existsSync(file)) continue
      reached.add(file)
      const from = dirname(file)
      open.push(...linksOf(file).map(target => resolve(from, target.split('#')[0] || file)))
    }
    const lost = files.filter(file => !reached.has(file)).map(file => relative(repository, file))
    expect(lost).toEqual([])
  })

  // A page outside the site is linked as a file, and its own links lead nowhere there.
  it('of docs are all part of the site', () => {
    const { projectDocuments } = JSON.parse(readFileSync(join(repository, 'docs/typedoc.json'), 'utf8'))
    const pages = readdirSync(join(repository, 'docs')).filter(name => name.endsWith('.md'))
    expect(projectDocuments.filter((name: string) => !name.includes('/')).sort()).toEqual(pages.sort())
  })
})
