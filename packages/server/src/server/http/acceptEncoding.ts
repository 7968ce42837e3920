import { BoundedMap } from '../../platform/boundedMap.ts'

/** A content coding that answers are compressed with. */
export type Coding = 'zstd' | 'gzip'

/** The coding that a caller accepts best. */
export interface ChosenCoding {
  readonly coding: Coding
  /** The caller does not take a body as it is (`identity;q=0`). */
  readonly isRequired: boolean
}

/** No client names so many; a longer header is not read. */
const maxHeaderLength = 500
const elementPattern =
  /^[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/i

/**
 * Makes the choice of a coding by `Accept-Encoding` (RFC 9110, 12.5.3).
 *
 * @param codings - those that this process can write, the preferred one first.
 * @returns chooses the coding of the highest weight; `undefined`: none, because the caller names none of them, weights none higher than a
 *   body as it is, or sends what is no such list.
 */
export function createCodingChoice(
  codings: readonly Coding[]
): (header: string | undefined) => ChosenCoding | undefined {
  // Few clients differ in it.
  const chosen = new BoundedMap<string, { readonly choice: ChosenCoding | undefined }>(200)
  return header => {
    if (header === undefined || header.length > maxHeaderLength) return undefined
    const before = chosen.get(header)
    if (before !== undefined) return before.choice
    const choice = chooseCoding(codings, header)
    chosen.set(header, { choice })
    return choice
  }
}

function chooseCoding(codings: readonly Coding[], header: string): ChosenCoding | undefined {
  const weights = new Map<string, number>()
  for (const element of header.split(',')) {
    if (element.trim() === '') continue
    const [, name, weight = '1'] = elementPattern.exec(element) ?? []
    if (name === undefined) return undefined
    const coding = name.toLowerCase().replace(/^x-gzip$/, 'gzip')
    // Of one that is named twice the lower weight counts.
    weights.set(coding, Math.min(Number(weight), weights.get(coding) ?? 1))
  }
  const others = weights.get('*')
  const weightOf = (coding: string) => weights.get(coding) ?? others ?? 0
  // Acceptable unless it is excluded; preferred only where it is named.
  const identity = weights.get('identity') ?? (others === 0 ? 0 : Number.MIN_VALUE)
  let best: Coding | undefined
  for (const coding of codings) {
    if (weightOf(coding) > (best === undefined ? 0 : weightOf(best))) best = coding
  }
  if (best === undefined || weightOf(best) < identity) return undefined
  return { coding: best, isRequired: identity === 0 }
}
