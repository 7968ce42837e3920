import { isReference, nameOf, type Reference, type Schema, type ServiceDocument } from '../../document.ts'

/** The overview, from the root of the repository. */
export const methodsPage = 'docs/methods.md'
/** The page of what several methods, or the envelope, speak of. */
export const typesPage = 'docs/methods/types.md'
/** The page that holds the error cases between two marks. */
export const errorsPage = 'docs/errors.md'

/** The page of a method. */
export function pageOf(method: string): string {
  return `docs/methods/${method}.md`
}

/**
 * Which page tells of each type: that of the method where only one uses it, else the common one.
 *
 * @returns Names of schema components by page, in the order in which a reader of the method meets them.
 */
export function placeTypes(document: ServiceDocument): Map<string, string[]> {
  const places = new Map<string, string[]>()
  const common: string[] = []
  const uses = document.methods.map(method => ({
    page: pageOf(method.name),
    names: namesWithin(document, [method['x-params-schema'], method.result.schema])
  }))
  const { request, batch, success, failure } = document['x-envelope']
  const errorData = Object.values(document['x-errors']).map(({ data }) => data)
  uses.push({
    page: typesPage,
    names: namesWithin(document, [request, batch, success, failure, ...errorData])
  })
  for (const name of Object.keys(document.components.schemas)) {
    if (uses.filter(({ names }) => names.has(name)).length !== 1) common.push(name)
  }
  for (const { page, names } of uses) {
    const own = [...names].filter(name => !common.includes(name))
    places.set(page, page === typesPage ? [...own, ...common] : own)
  }
  return places
}

/** The components that some schemas refer to, however deep. */
function namesWithin(document: ServiceDocument, schemas: unknown[]): Set<string> {
  const names = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (!isReference(value)) {
      Object.values(value).forEach(visit)
      return
    }
    const name = nameOf(value)
    if (names.has(name)) return
    names.add(name)
    visit(document.components.schemas[name])
  }
  schemas.forEach(visit)
  return names
}

/** How one page writes links. */
export interface Links {
  /** A type as the page names it: a link to its section, or the JSON type with its bounds. */
  type: (schema: Schema | Reference) => string
  /** An error case by its reason. */
  reason: (reason: string) => string
  /** The page of a method. @param wireName - Its name on the wire, where that is not its name. */
  method: (name: string, wireName?: string) => string
}

/** The links of a page. */
export function createLinks(document: ServiceDocument, page: string): Links {
  const homes = new Map(
    [...placeTypes(document)].flatMap(([home, names]) => names.map(name => [name, home] as const))
  )
  const to = (target: string) => (target === page ? '' : relativePath(page, target))
  const type = (schema: Schema | Reference): string => {
    if (!isReference(schema)) return plainType(schema, type)
    const name = nameOf(schema)
    return `[${name}](${to(homes.get(name) ?? typesPage)}#${name.toLowerCase()})`
  }
  return {
    type,
    reason: reason => `[\`${reason}\`](${to(errorsPage)}#${reason.toLowerCase()})`,
    method: (name, wireName = name) => `[\`${wireName}\`](${to(pageOf(name))})`
  }
}

/** All pages are in `docs` or one folder below it. */
function relativePath(from: string, to: string): string {
  const target = to.slice('docs/'.length)
  if (!from.startsWith('docs/methods/')) return target
  return target.startsWith('methods/') ? target.slice('methods/'.length) : `../${target}`
}

function plainType(schema: Schema, type: Links['type']): string {
  const { enum: values, const: only, oneOf, items, type: name } = schema
  if (only !== undefined) return `\`${JSON.stringify(only)}\``
  if (values) return values.map(value => `\`${JSON.stringify(value)}\``).join(' or ')
  if (oneOf) return oneOf.map(type).join(' or ')
  if (items && !Array.isArray(items)) return `list of ${type(items)}`
  if (name === undefined) return 'any value'
  const names = typeof name === 'string' ? [name] : name
  return `${names.join(' or ')}${bounds(schema)}`
}

function bounds({ minimum, maximum, pattern, 'x-int64': wide }: Schema): string {
  if (wide) return ', 64 bits'
  if (pattern !== undefined) return ` \`${pattern}\``
  const top = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum
  if (minimum !== undefined && top !== undefined) return `, ${minimum} to ${top}`
  return ''
}
