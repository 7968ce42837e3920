import { compile, createAjv } from '../compileSchemas.ts'
import { nameOf, type ServiceDocument } from '../document.ts'

/** Whether `x-errors`, `components.errors` and the methods' error lists tell the same story. */
export function checkErrors(document: ServiceDocument): string[] {
  const problems: string[] = []
  const ajv = createAjv(document, 'exact')
  const failure = compile(ajv, document['x-envelope'].failure.$ref)
  const messages = new Map<string, string>()
  for (const [reason, each] of Object.entries(document['x-errors'])) {
    const say = (problem: string) => problems.push(`error ${reason}: ${problem}`)
    if (!/^[A-Z][A-Z0-9_]*$/.test(reason)) say('the reason must be upper case')
    if (!each.when) say('needs "when"')
    if (!each.remedy) say('needs "remedy"')
    const other = messages.get(each.message)
    if (other !== undefined) say(`has the message of ${other}`)
    messages.set(each.message, reason)
    if (each.example === undefined) {
      say('needs "example"')
      continue
    }
    const { error } = each.example
    if (!failure(each.example)) say(`its example is no failure: ${ajv.errorsText(failure.errors)}`)
    else if (error.code !== each.code || error.message !== each.message || error.data.reason !== reason) {
      say('its example has another code, message or reason')
    }
    const data = compile(ajv, each.data.$ref)
    if (!data(error?.data)) say(`the data of its example: ${ajv.errorsText(data.errors)}`)
  }
  for (const [name, { code, message, data }] of Object.entries(document.components.errors)) {
    const row = document['x-errors'][name]
    if (row === undefined) problems.push(`components.errors.${name}: not in x-errors`)
    else if (row.code !== code || row.message !== message || data?.reason !== name) {
      problems.push(`components.errors.${name}: contradicts x-errors`)
    }
  }
  for (const method of document.methods) {
    for (const error of method.errors ?? []) {
      if (!(nameOf(error) in document['x-errors']))
        problems.push(`method ${method.name}: unknown error ${nameOf(error)}`)
    }
  }
  return problems
}
