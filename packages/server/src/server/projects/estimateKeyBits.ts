/** Texts that people type without choosing; a part of one is as good as known. */
const sequences = ['abcdefghijklmnopqrstuvwxyz', '0123456789', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm']
const known = sequences.flatMap(text => [text, [...text].reverse().join('')]).join('\n')

/** A repetition counts from this many bits on: in a random key one of them is less likely than one in a million. */
const repetitionBits = 32
/** What it adds to say which earlier text is repeated, and how long. */
const bitsPerRepetition = 8
/** What a letter of a language adds, about; it is less in long texts. */
const bitsPerLetter = 2
/** Fewer letters tell nothing; of one case, they are fewer than 128 bits anyway. */
const fewestLetters = 24
/** Share of letters, and of these of such in the case of words, from which on a key may be words. */
const wordShare = 0.85
/** Bits by which a letter has to be likelier in a language than in a random key; 0.5 in English, -1 in a random key. */
const likelierPerLetter = 0.15
/** Frequencies of letters in English, in per cent; those of other languages in Latin script are near enough. */
const letterPercent: Readonly<Record<string, number>> = {
  ...{ a: 8.2, b: 1.5, c: 2.8, d: 4.3, e: 12.7, f: 2.2, g: 2, h: 6.1, i: 7, j: 0.15, k: 0.8, l: 4, m: 2.4 },
  ...{ n: 6.7, o: 7.5, p: 1.9, q: 0.1, r: 6, s: 6.3, t: 9.1, u: 2.8, v: 1, w: 2.4, x: 0.15, y: 2, z: 0.07 }
}

/**
 * Estimates the randomness of a key from its text, in bits: its length times the bits of its alphabet, less for what
 * repeats itself or a known sequence, and much less for words.
 *
 * @returns never less than a random key of the same form has, but where that looks like words by chance (less than one in
 *   100,000); often more than a key has that a person made up. A UUID has 122.
 */
export function estimateKeyBits(key: string): number {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(key)) return 122
  const text = key.replace(/=+$/, '')
  return Math.round(countUnrepeated(text, areWords(text) ? bitsPerLetter : bitsOfAlphabet(text)))
}

function bitsOfAlphabet(text: string): number {
  if (/^\d*$/.test(text)) return Math.log2(10)
  if (/^([\da-f]*|[\dA-F]*)$/.test(text)) return 4
  const classes: readonly [RegExp, number][] = [
    [/[a-z]/, 26],
    [/[A-Z]/, 26],
    // Base64 without a digit is not rare.
    [/\d|[a-z].*[A-Z]|[A-Z].*[a-z]/, 10],
    [/[-_+/.]/, 2],
    [/[^\w\-+/.]/, 33]
  ]
  return Math.log2(classes.reduce((size, [pattern, more]) => size + (pattern.test(text) ? more : 0), 0))
}

/** Adds up the bits of what neither repeats what came before it nor a known sequence. */
function countUnrepeated(text: string, perCharacter: number): number {
  const lower = text.toLowerCase()
  const shortest = Math.ceil(repetitionBits / bitsOfAlphabet(text))
  let bits = 0
  for (let index = 0; index < lower.length; ) {
    const length = repeatedLength(lower, index)
    if (length >= shortest) {
      bits += bitsPerRepetition
      index += length
    } else {
      bits += perCharacter
      index++
    }
  }
  return bits
}

/** Returns how much of the text from `index` on stands in it before, overlapping too, or in a known sequence. */
function repeatedLength(text: string, index: number): number {
  let length = 0
  const isThere = (part: string) => known.includes(part) || text.slice(0, index + length).includes(part)
  while (index + length < text.length && isThere(text.slice(index, index + length + 1))) length++
  return length
}

/** Tells whether a text is words: letters in the cases of words, as frequent as in a language rather than all alike. */
function areWords(text: string): boolean {
  const written = text.replace(/[\s\-_.,]/g, '')
  const letters = written.replace(/[^a-zA-Z]/g, '')
  if (letters.length < fewestLetters || letters.length < written.length * wordShare) return false
  if (/^[a-f\d]*$/i.test(written)) return false
  const inWords = letters.match(/[A-Z]?[a-z]{2,}|^[A-Z]+$/g)?.join('').length ?? 0
  const bits = [...letters.toLowerCase()].map(letter => Math.log2(((letterPercent[letter] ?? 0) * 26) / 100))
  const likelihood = bits.reduce((sum, more) => sum + more, 0)
  return inWords >= letters.length * wordShare && likelihood > letters.length * likelierPerLetter
}
