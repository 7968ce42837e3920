import { stripVTControlCharacters } from 'node:util'
import { type Block, type Problem, placeOf } from './readBlocks.ts'

/**
 * Compares what a page shows with what was printed.
 *
 * @param shown - `…` in it stands for any text, also of several lines.
 */
export function checkPrinted(shown: Block, printed: string): Problem[] {
  const pattern = shown.code
    .trim()
    .split('…')
    .map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^]*?')
  const lines = stripVTControlCharacters(printed)
    .replace(/[ \t]+$/gm, '')
    .trim()
  if (new RegExp(`^${pattern}$`).test(lines)) return []
  return [{ at: placeOf(shown), message: `this was printed instead:\n${lines}` }]
}
