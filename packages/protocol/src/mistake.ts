import { expectations } from './generated/expectations.gen.ts'
import { nearestName } from './nearestName.ts'

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

/**
 * Words for the first error of a failed validation; later ones only follow from it.
 *
 * @param holder - The value at the error's path.
 * @param names - The members that objects of this validation may have.
 */
export function toMistake(error: AjvError, holder: unknown, names: readonly string[]): Mistake {
  const { instancePath, keyword, params } = error
  switch (keyword) {
    case 'required': {
      const missing = String(params.missingProperty)
      const meant = Object.keys(Object(holder)).find(name => nearestName(name, names) === missing)
      const instead = meant === undefined ? '' : `; ${JSON.stringify(meant)} is not a known member`
      return { path: member(instancePath, missing), message: `is missing${instead}` }
    }
    case 'additionalProperties': {
      const near = nearestName(String(params.additionalProperty), names)
      const meant = near === undefined ? '' : `; the nearest is ${JSON.stringify(near)}`
      return {
        path: member(instancePath, params.additionalProperty),
        message: `is not a known member${meant}`
      }
    }
    case 'type':
      return { path: instancePath, message: `must be ${types(params.type)}` }
    case 'pattern':
      return {
        path: instancePath,
        message: `must be ${expectations[String(params.pattern)] ?? 'of another form'}${hintOn(String(params.pattern), holder)}`
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

const evmAddress = '^0x[0-9a-fA-F]{40}$'
const publicKey = '^[1-9A-HJ-NP-Za-km-z]{32,44}$'

/** Says what a text seems to be that is not the address which is asked for. */
function hintOn(pattern: string, value: unknown): string {
  if (typeof value !== 'string' || (pattern !== evmAddress && pattern !== publicKey)) return ''
  if (/^[^\s.]{1,40}(\.[a-z]{2,10}){1,2}$/i.test(value)) {
    const service = pattern === evmAddress ? 'ENS names' : 'Names'
    return `; got ${JSON.stringify(value)}. ${service} have to be resolved first`
  }
  if (pattern === evmAddress && new RegExp(publicKey).test(value)) {
    return '. This looks like an address on Solana: those are asked for at /solana'
  }
  if (pattern === publicKey && new RegExp(evmAddress).test(value)) {
    return '. This looks like an address of an EVM chain: those are asked for at /evm-chain'
  }
  return ''
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
