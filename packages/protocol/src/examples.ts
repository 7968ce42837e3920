export type { ErrorExamples, MethodExample, MethodExamples } from './exampleTypes.ts'
export { errorExamples, examples } from './generated/examples.gen.ts'
