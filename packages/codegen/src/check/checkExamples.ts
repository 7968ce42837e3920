import { compile, createAjv } from '../compileSchemas.ts'
import { endpointsOf, examplesOf, type ServiceDocument } from '../document.ts'

/**
 * Every example against its schemas, both as written (`oneOf`) and as the emitted validators check
 * (if/then/else), so that the two forms cannot drift apart unseen.
 */
export function checkExamples(document: ServiceDocument): string[] {
  const problems: string[] = []
  for (const form of ['exact', 'chained'] as const) {
    const ajv = createAjv(document, form)
    for (const method of document.methods) {
      const params = compile(ajv, method['x-params-schema'].$ref)
      const result = compile(ajv, method.result.schema.$ref ?? '')
      const examples = examplesOf(document, method)
      if (examples.length === 0) problems.push(`method ${method.name}: needs an example`)
      for (const example of examples) {
        const say = (problem: string) =>
          problems.push(`example "${example.name}" of ${method.name}: ${problem}`)
        if (!Number.isSafeInteger(example.chainId)) say('needs x-chainId')
        if (!endpointsOf(method).includes(example.endpoint)) say(`the method is not on ${example.endpoint}`)
        if (!params(example.params)) say(`params (${form}): ${ajv.errorsText(params.errors)}`)
        const cursors = example.cursors?.length ?? 0
        const events = method['x-stream'] ? (example.result as unknown[]).length : 0
        if (cursors !== events) say('x-cursors needs the id of each event of a stream')
        if (!result(example.result)) say(`result (${form}): ${ajv.errorsText(result.errors)}`)
      }
    }
  }
  return [...new Set(problems)]
}
