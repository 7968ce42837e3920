import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const docs = fileURLToPath(new URL('..', import.meta.url))

/** The first sentence of the first paragraph of a page. */
function firstSentence(page: string): string {
  const paragraphs = page
    .replace(/^ *```.*\n[\s\S]*?^ *``` *$/gm, '')
    .split(/\n{2,}/)
    .slice(1)
  const first = paragraphs.find(part => /^[\p{L}*`]/u.test(part)) ?? ''
  const text = plain(first)
  return /^.{15,}?[.?](?= |$)/.exec(text)?.[0] ?? text.replace(/:$/, '.')
}

const plain = (text: string) =>
  text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
    .replace(/\s+/g, ' ')
    .trim()

/**
 * The documentation as llms.txt (llmstxt.org): what the project is, then every page of the shelves of docs/README.md with what it is
 * about.
 *
 * @returns Links are relative to the top of the site.
 */
export function llmsText(): string {
  const read = (path: string) => readFileSync(join(docs, path), 'utf8')
  const [, summary = ''] = /^# .+\n\n(.+)/.exec(read('../README.md')) ?? []
  const shelves = read('README.md')
    .split(/^## /m)
    .slice(1)
    .map(shelf => {
      const pages = [...shelf.matchAll(/\[([^\]]+)\]\(([\w/-]+\.md)\)(?:: (.+))?/g)]
      const lines = pages.map(([, title = '', path = '', about = firstSentence(read(path))]) => {
        return `- [${title}](documents/${path.replace(/\.md$/, '.html')}): ${plain(about)}`
      })
      return `## ${shelf.split('\n')[0]}\n\n${lines.join('\n')}\n`
    })
  return `# chain-data\n\n> ${summary}\n\n${shelves.join('\n')}`
}
