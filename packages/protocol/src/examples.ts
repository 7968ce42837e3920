/**
 * The examples of the document: a call of every method with its answer, and an answer for every error case.
 *
 * @packageDocumentation
 */
export type { ErrorExamples, MethodExample, MethodExamples } from './exampleTypes.ts'
export { errorExamples, examples } from './generated/examples.gen.ts'
