import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { findLongSentences, mostWords } from './longSentences.ts'
import { listPages, repository } from './readBlocks.ts'

/** How many long sentences each page may still have. A page that is not named may have none. */
const allowed = JSON.parse(readFileSync(new URL('longSentences.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, number>
>

/** Pages for readers: records of decisions are written once, and changesets become a list. */
const pages = listPages().filter(page => !/^docs\/decisions\/|^\.changeset/.test(page))

it('finds sentences of more than 30 words, and no shorter ones', () => {
  const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(' ')
  const text = `# Head\n\n${words(30)}. Then ${words(30)}.\n\n- ${words(20)}\n  ${words(11)}\n\n| ${words(31)} | ${words(9)} |\n`
  expect(findLongSentences(text).map(({ line, words }) => [line, words])).toEqual([
    [3, 31],
    [5, 31],
    [8, 31]
  ])
  expect(findLongSentences(`\`\`\`sh\n${words(40)}\n\`\`\`\n`)).toEqual([])
})

it.each(pages)(`%s gets no more sentences of over ${mostWords} words`, page => {
  const found = findLongSentences(readFileSync(`${repository}/${page}`, 'utf8'))
  const named = found.map(({ line, words, sentence }) => `${page}:${line} (${words} words) ${sentence}`)
  if (found.length > (allowed[page] ?? 0)) expect(named).toEqual([])
})
