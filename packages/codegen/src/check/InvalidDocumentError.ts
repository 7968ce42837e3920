/** The document cannot be generated from; `problems` says everything that is wrong with it. */
export class InvalidDocumentError extends Error {
  override readonly name = 'InvalidDocumentError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The document has ${problems.length} problem(s):\n${problems.map(each => `- ${each}`).join('\n')}`)
    this.problems = problems
  }
}
