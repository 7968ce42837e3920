import { isReference, type Schema, type ServiceDocument } from '../document.ts'

/**
 * What must hold of the schemas: titles and descriptions everywhere, alternatives that can be told
 * apart, keywords the emitted validators can do without run-time helpers, limits that agree.
 */
export function checkSchemas(document: ServiceDocument): string[] {
  const problems: string[] = []
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    if (!/^[A-Z][A-Za-z0-9]*$/.test(name)) problems.push(`schema ${name}: the name must be a type name`)
    checkSchema(document, schema, name, problems)
  }
  for (const method of document.methods) {
    for (const param of method.params) {
      if (!isReference(param)) checkSchema(document, param.schema, `${method.name}/${param.name}`, problems)
    }
  }
  return problems
}

function checkSchema(document: ServiceDocument, schema: Schema, place: string, problems: string[]): void {
  if (isReference(schema)) return
  for (const part of ['title', 'description'] as const) {
    if (!schema[part]) problems.push(`schema ${place}: needs a ${part}`)
  }
  checkKeywords(document, schema, place, problems)
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (typeof property === 'boolean') continue
    if (property.$ref !== undefined && !property.description)
      problems.push(`schema ${place}/${key}: needs a description`)
    if (property['x-extension'] && schema.required?.includes(key)) {
      problems.push(`schema ${place}/${key}: an extension must not be required`)
    }
    checkSchema(document, property, `${place}/${key}`, problems)
  }
  const items = Array.isArray(schema.items) ? schema.items : schema.items ? [schema.items] : []
  for (const [index, item] of items.entries()) checkSchema(document, item, `${place}/${index}`, problems)
  for (const [index, alternative] of (schema.oneOf ?? []).entries()) {
    checkSchema(document, alternative, `${place}/oneOf/${index}`, problems)
  }
}

// These make ajv's output import its run-time helpers.
const helperKeywords = ['minLength', 'maxLength', 'uniqueItems', 'format']

function checkKeywords(document: ServiceDocument, schema: Schema, place: string, problems: string[]): void {
  for (const keyword of helperKeywords) {
    if (keyword in schema)
      problems.push(`schema ${place}: ${keyword} is not supported by the emitted validators`)
  }
  if (schema.pattern !== undefined && !schema['x-expected']) {
    problems.push(`schema ${place}: a pattern needs x-expected, its meaning in words`)
  }
  const limitName = schema['x-limit']
  if (limitName === undefined) return
  const limit = document['x-limits'][limitName]
  if (limit === undefined) problems.push(`schema ${place}: x-limits has no ${limitName}`)
  else if ((schema.maxItems ?? schema.maximum) !== limit.default) {
    problems.push(`schema ${place}: its maximum is not the limit ${limitName} (${limit.default})`)
  }
}
