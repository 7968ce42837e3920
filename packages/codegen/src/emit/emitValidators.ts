import { createHash } from 'node:crypto'
import type { Ajv } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import { compile, createAjv, mapSubschemas, schemaId } from '../compileSchemas.ts'
import { isReference, type Method, type Schema, type ServiceDocument } from '../document.ts'
import { literal, propertyKey } from './typeScript.ts'

// The module is CommonJS with an ES default beside it.
const standaloneCode = standalone.default

/** A validator table: exported name, and the schema behind each of its keys. */
interface Table {
  name: string
  description: string
  refs: Record<string, string>
}

/** `paramsValidators.gen.ts`: validators of params, requests and batches, for the receiving side. */
export function emitParamsValidators(document: ServiceDocument): string {
  const envelope = document['x-envelope']
  return emit(document, [
    {
      name: 'paramsValidators',
      description: 'Validates the params of each method.',
      refs: Object.fromEntries(document.methods.map(method => [method.name, method['x-params-schema'].$ref]))
    },
    {
      name: 'requestValidators',
      description: 'Validates one request, and the size of a batch.',
      refs: { request: envelope.request.$ref, batch: envelope.batch.$ref }
    }
  ])
}

/** `resultValidators.gen.ts`: validators of results and answers, for the asking side and for tests. */
export function emitResultValidators(document: ServiceDocument): string {
  const envelope = document['x-envelope']
  return emit(document, [
    {
      name: 'resultValidators',
      description: 'Validates the result of each method.',
      refs: Object.fromEntries(document.methods.map(method => [method.name, refOf(method.result.schema)]))
    },
    {
      name: 'answerValidators',
      description: 'Validates an answer without looking into its result or error data.',
      refs: { success: envelope.success.$ref, failure: envelope.failure.$ref }
    },
    {
      name: 'errorDataValidators',
      description: 'Validates `error.data` of each error case.',
      refs: Object.fromEntries(
        Object.entries(document['x-errors']).map(([reason, { data }]) => [reason, data.$ref])
      )
    }
  ])
}

/** `expectations.gen.ts`: what each pattern asks for, in words, and the members that params may have. */
export function emitExpectations(document: ServiceDocument): string {
  const expectations: Record<string, string> = {}
  const collect = (schema: Schema) => {
    const words = schema['x-expected']
    if (schema.pattern !== undefined && words !== undefined) expectations[schema.pattern] ??= words
  }
  for (const schema of Object.values(document.components.schemas)) collect(schema)
  return `/** What a value must be that does not match a pattern: read as "must be ...". */
export const expectations: { readonly [pattern: string]: string } = ${literal(expectations)}

/** The members of objects in the params of each method. */
export const memberNames: { readonly [method: string]: readonly string[] } = ${literal(
    Object.fromEntries(document.methods.map(method => [method.name, memberNames(document, method)]))
  )}
`
}

function memberNames({ components }: ServiceDocument, method: Method): readonly string[] {
  const names = new Set<string>()
  const visit = (schema: Schema): Schema => {
    for (const name of Object.keys(schema.properties ?? {})) names.add(name)
    const referred = schema.$ref && components.schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)]
    if (referred) visit(referred)
    return mapSubschemas(schema, visit)
  }
  visit(method['x-params-schema'])
  return [...names]
}

function emit(document: ServiceDocument, tables: Table[]): string {
  const ajv = createAjv(document, 'chained')
  const refs = [...new Set(tables.flatMap(table => Object.values(table.refs)))]
  const identifiers = new Map(refs.map(ref => [ref, `validate${schemaId(ref)}`]))
  for (const ref of refs) compile(ajv, ref)
  const names = Object.fromEntries([...identifiers].map(([ref, name]) => [name, schemaId(ref)]))
  const code = stableNames(dropUnusedSchemas(standaloneCode(ajv, names)), ajv, document)
    .replace('"use strict";\n', '')
    // Where in the schema a rule is written: no reader of these errors needs it.
    .replaceAll(/schemaPath:"(?:[^"\\]|\\.)*",/g, '')
    .replaceAll(/^export const \w+ = \w+;$/gm, '')
    .replaceAll(/^\/\*# sourceURL=.*\*\/;?\n/gm, '')
    .trim()
  const exports = tables.map(table => {
    const entries = Object.entries(table.refs).map(
      ([key, ref]) => `  ${propertyKey(key)}: ${identifiers.get(ref)}`
    )
    return `/** ${table.description} */\nexport const ${table.name} = {\n${entries.join(',\n')}\n}`
  })
  return `// @ts-nocheck: the functions are ajv's output; ../validators.ts gives them their types.\n\n${code}\n\n${exports.join('\n\n')}\n`
}

/**
 * Renames what ajv numbers in the order of compilation, so that a change shows only where it is: validators and
 * schemas by their schema, patterns by a hash of their value.
 */
function stableNames(code: string, ajv: Ajv, document: ServiceDocument): string {
  const names = new Map<string, string>()
  for (const schema of Object.keys(document.components.schemas)) {
    const numbered = compile(ajv, `#/components/schemas/${schema}`).source?.validateName
    if (numbered !== undefined) names.set(String(numbered), `validate${schema}`)
  }
  for (const [, name = '', kind = '', value = ''] of code.matchAll(
    /^const ((pattern|schema)\d+) = (.*)$/gm
  )) {
    const schema = /"\$id":"(\w+)"\};$/.exec(value)?.[1]
    names.set(name, `${kind}_${schema ?? createHash('sha256').update(value).digest('hex').slice(0, 8)}`)
  }
  return code.replaceAll(/\b(?:validate|pattern|schema)\d+\b/g, name => {
    const stable = names.get(name)
    if (stable === undefined) throw new Error(`${name} has no stable name.`)
    return stable
  })
}

/** ajv keeps a copy of every schema beside its validator; nearly all of them are never read. */
function dropUnusedSchemas(code: string): string {
  return code
    .split('\n')
    .filter(line => {
      const name = /^const (schema\d+) = /.exec(line)?.[1]
      return name === undefined || code.split(new RegExp(`\\b${name}\\b`)).length > 2
    })
    .join('\n')
}

function refOf(schema: Schema): string {
  if (!isReference(schema)) throw new Error(`"${schema.title}" must be a reference.`)
  return schema.$ref
}
