import {
  type ContentDescriptor,
  isReference,
  nameOf,
  type Reference,
  resolve,
  type Schema,
  type ServiceDocument
} from '../document.ts'
import { code, table } from './markdown.ts'

/** One section per schema component that has members or forms; simple ones share a table at the end. */
export function schemaSections(document: ServiceDocument): string[] {
  const sections: string[] = []
  const simple: string[][] = []
  const methods = new Map(document.methods.map(method => [nameOf(method['x-params-schema']), method]))
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    const labels = methods.get(name)?.params.map(param => resolve<ContentDescriptor>(document, param).name)
    if (labels) sections.push(`${heading(name, schema)}\n\n${paramForms(document, schema, labels)}`)
    else if (schema.properties) sections.push(`${heading(name, schema)}\n\n${memberTable(document, schema)}`)
    else
      simple.push([
        `<a id="${name.toLowerCase()}"></a>${name}`,
        typeName(document, schema),
        schema.description ?? ''
      ])
  }
  return [...sections, `### Simple types\n\n${table(['type', 'JSON', 'meaning'], simple)}`]
}

function heading(name: string, schema: Schema): string {
  return `### ${name}\n\n${schema.description}${schema['x-extension'] ? ' *Extension.*' : ''}`
}

function memberTable(document: ServiceDocument, schema: Schema): string {
  const rows = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    if (typeof property === 'boolean') return []
    const presence = schema.required?.includes(name) ? 'always' : 'may be absent'
    const note = property['x-extension'] ? ' *Extension.*' : ''
    return [[code(name), typeName(document, property), presence, `${property.description}${note}`]]
  })
  return table(['member', 'type', 'presence', 'meaning'], rows)
}

function paramForms(document: ServiceDocument, schema: Schema, labels: string[]): string {
  const rows = (schema.oneOf ?? [schema]).map(form => {
    const items = Array.isArray(form.items) ? form.items : []
    const members = items.map((item, index) => {
      const optional = index < (form.minItems ?? 0) ? '' : ' (optional)'
      return `${labels[index]}: ${typeName(document, item)}${optional}`
    })
    const note = form['x-extension'] ? ' *Extension.*' : ''
    return [
      `[ ${members.join(', ')} ]`,
      schema.oneOf ? `${form.title}. ${form.description}${note}` : (form.description ?? '')
    ]
  })
  return table(['params', 'meaning'], rows)
}

/** A type as the page names it: a link to its section, or the JSON type with its bounds. */
export function typeName(document: ServiceDocument, schema: Schema | Reference): string {
  if (isReference(schema)) return `[${nameOf(schema)}](#${nameOf(schema).toLowerCase()})`
  const { enum: values, const: only, oneOf, items, type } = schema
  if (only !== undefined) return code(JSON.stringify(only))
  if (values) return values.map(value => code(JSON.stringify(value))).join(' or ')
  if (oneOf) return oneOf.map(alternative => typeName(document, alternative)).join(' or ')
  if (items && !Array.isArray(items)) return `list of ${typeName(document, items)}`
  if (type === undefined) return 'any value'
  const types = typeof type === 'string' ? [type] : type
  return `${types.join(' or ')}${bounds(schema)}`
}

function bounds({ minimum, maximum, pattern, 'x-int64': wide }: Schema): string {
  if (wide) return ', 64 bits'
  if (pattern !== undefined) return ` \`${pattern}\``
  const top = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum
  if (minimum !== undefined && top !== undefined) return `, ${minimum} to ${top}`
  return ''
}
