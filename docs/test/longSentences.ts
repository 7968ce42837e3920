/** Most words of a sentence that is still read at once. */
export const mostWords = 30

/** A sentence that is too long, with the line that its paragraph, list item or table row begins at. */
export interface LongSentence {
  readonly line: number
  readonly words: number
  readonly sentence: string
}

/**
 * Sentences of a page with more than {@link mostWords} words. Code blocks are left out, a link counts by its text, a piece of code
 * as one word. Each cell of a table is a sentence of its own at least.
 */
export function findLongSentences(page: string): LongSentence[] {
  return unitsOf(page).flatMap(({ line, text }) =>
    sentencesOf(text).flatMap(sentence => {
      const words = sentence.split(' ').filter(word => /[\p{L}\p{N}]/u.test(word)).length
      return words > mostWords ? [{ line, words, sentence }] : []
    })
  )
}

/** Paragraphs, list items, headings and cells of tables. */
function unitsOf(page: string): { line: number; text: string }[] {
  const units: { line: number; text: string }[] = []
  let fence: string | undefined
  let isOpen = false
  for (const [index, text] of page.split('\n').entries()) {
    const [, mark] = /^ *(`{3,}|~{3,})/.exec(text) ?? []
    if (mark !== undefined) {
      fence = fence === undefined ? mark : undefined
      isOpen = false
    } else if (fence !== undefined) continue
    else if (/^\s*(\||$|#|<!--)/.test(text)) {
      isOpen = false
      const cells = text.trim().startsWith('|') ? text.split(/(?<!\\)\|/) : []
      units.push(...cells.map(cell => ({ line: index + 1, text: cell })))
    } else if (isOpen && !/^\s*([-*]|\d+\.) /.test(text)) units.at(-1)!.text += ` ${text}`
    else {
      units.push({ line: index + 1, text })
      isOpen = true
    }
  }
  return units
}

function sentencesOf(text: string): string[] {
  const plain = text
    .replace(/`[^`]*`/g, 'code')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\*\*/g, '')
    .replace(/^\s*([-*]|\d+\.) /, '')
    .replace(/\s+/g, ' ')
    .trim()
  return plain.split(/(?<=[.!?][)"']?) (?=[\p{Lu}\p{N}"'(]|code\b)/u)
}
