import { literal } from './typeScript.ts'

/**
 * `vectors.gen.ts` of the conformance kit: the vectors as they stand in their files.
 *
 * @param vectors - Text of each file by `<folder>/<case>`.
 */
export function emitVectors(vectors: ReadonlyMap<string, string>): string {
  const sorted = [...vectors].sort(([one], [other]) => (one < other ? -1 : 1))
  return `/** The files of spec/vectors by \`<folder>/<case>\`. */
export const vectorFiles: Readonly<Record<string, string>> = ${literal(Object.fromEntries(sorted))}
`
}
