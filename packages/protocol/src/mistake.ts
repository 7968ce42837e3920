import { expectations } from './generated/expectations.gen.ts'

/** One thing that is wrong with a value. */
export interface Mistake {
  /** JSON Pointer to the offending member; for a missing or unknown one, to where it is or should be. */
  readonly path: string
  /** What it must be, to be read after the path: "must be a string". */
  readonly message: string
}

/** What ajv's standalone functions report. */
export interface AjvError {
  readonly instancePath: string
  readonly keyword: string
  readonly params: { readonly [name: string]: unknown }
}

/** Words for the first error of a failed validation; later ones only follow from it. */
export function toMistake(error: AjvError): Mistake {
  const { instancePath, keyword, params } = error
  switch (keyword) {
    case 'required':
      return { path: member(instancePath, params.missingProperty), message: 'is missing' }
    case 'additionalProperties':
      return { path: member(instancePath, params.additionalProperty), message: 'is not a known member' }
    case 'type':
      return { path: instancePath, message: `must be ${types(params.type)}` }
    case 'pattern':
      return {
        path: instancePath,
        message: `must be ${expectations[String(params.pattern)] ?? 'of another form'}`
      }
    case 'enum':
      return { path: instancePath, message: `must be one of ${JSON.stringify(params.allowedValues)}` }
    case 'const':
      return { path: instancePath, message: `must be ${JSON.stringify(params.allowedValue)}` }
    case 'minimum':
      return { path: instancePath, message: `must be at least ${params.limit}` }
    case 'maximum':
      return { path: instancePath, message: `must be at most ${params.limit}` }
    case 'multipleOf':
      return { path: instancePath, message: `must be a multiple of ${params.multipleOf}` }
    case 'minItems':
      return { path: instancePath, message: `must have at least ${elements(params.limit)}` }
    case 'maxItems':
    case 'additionalItems':
      return { path: instancePath, message: `must have at most ${elements(params.limit)}` }
    case 'false schema':
      return { path: instancePath, message: 'must be absent here' }
    default:
      return { path: instancePath, message: `fails "${keyword}"` }
  }
}

function member(path: string, name: unknown): string {
  return `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function elements(count: unknown): string {
  return count === 1 ? '1 element' : `${count} elements`
}

function types(type: unknown): string {
  const names = Array.isArray(type) ? type : String(type).split(',')
  return names
    .map(name => (name === 'null' ? 'null' : `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`))
    .join(' or ')
}
