import { type ContentDescriptor, nameOf, resolve, type Schema, type ServiceDocument } from '../../document.ts'
import { code, table } from './markdown.ts'
import { createLinks, type Links, placeTypes } from './placeTypes.ts'

/** One section per type of a page that has members or forms; simple ones follow at the end. */
export function schemaSections(document: ServiceDocument, page: string): string[] {
  const links = createLinks(document, page)
  const sections: string[] = []
  const simple: string[] = []
  const methods = new Map(document.methods.map(method => [nameOf(method['x-params-schema']), method]))
  for (const name of placeTypes(document).get(page) ?? []) {
    const schema = document.components.schemas[name] ?? {}
    const labels = methods.get(name)?.params.map(param => resolve<ContentDescriptor>(document, param).name)
    if (labels) sections.push(`${heading(name, schema)}\n\n${paramForms(links, schema, labels)}`)
    else if (schema.properties) sections.push(`${heading(name, schema)}\n\n${memberTable(links, schema)}`)
    else simple.push(`#### ${name}\n\n${links.type(schema)}. ${schema.description ?? ''}`)
  }
  if (simple.length > 0) sections.push('### Simple types', ...simple)
  return sections
}

function heading(name: string, schema: Schema): string {
  return `### ${name}\n\n${schema.description}${schema['x-extension'] ? ' *Extension.*' : ''}`
}

function memberTable(links: Links, schema: Schema): string {
  const rows = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    if (typeof property === 'boolean') return []
    const presence = schema.required?.includes(name) ? 'always' : 'may be absent'
    const note = property['x-extension'] ? ' *Extension.*' : ''
    return [[code(name), links.type(property), presence, `${property.description}${note}`]]
  })
  return table(['member', 'type', 'presence', 'meaning'], rows)
}

function paramForms(links: Links, schema: Schema, labels: string[]): string {
  const rows = (schema.oneOf ?? [schema]).map(form => {
    const items = Array.isArray(form.items) ? form.items : []
    const members = items.map((item, index) => {
      const optional = index < (form.minItems ?? 0) ? '' : ' (optional)'
      return `${labels[index]}: ${links.type(item)}${optional}`
    })
    const note = form['x-extension'] ? ' *Extension.*' : ''
    return [
      `[ ${members.join(', ')} ]`,
      schema.oneOf ? `${form.title}. ${form.description}${note}` : (form.description ?? '')
    ]
  })
  return table(['params', 'meaning'], rows)
}
