import { examplesOf, type ServiceDocument } from '../document.ts'
import { literal } from './typeScript.ts'

/** `examples.gen.ts`: the examples of every method and error. */
export function emitExamples(document: ServiceDocument): string {
  const examples = Object.fromEntries(
    document.methods.map(method => [method.name, examplesOf(document, method)])
  )
  const errorExamples = Object.fromEntries(
    Object.entries(document['x-errors']).map(([reason, { example }]) => [reason, example])
  )
  return `import type { ErrorExamples, MethodExamples } from '../exampleTypes.ts'

/** Calls of every method with their results, as the document shows them. */
export const examples: MethodExamples = ${literal(examples)}

/** One answer for every error case. */
export const errorExamples: ErrorExamples = ${literal(errorExamples)}
`
}
