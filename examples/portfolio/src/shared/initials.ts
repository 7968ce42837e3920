import { cutText } from './cutText.ts'

/** The first letters of the first two words of a name. */
export function initials(name: string): string {
  const words = cutText(name, 60).match(/[\p{L}\p{N}]+/gu) ?? []
  const letters = words.slice(0, 2).map(word => [...word][0] ?? '')
  return letters.join('').toUpperCase() || '?'
}
