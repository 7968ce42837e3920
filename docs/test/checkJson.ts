import { errors, type MethodName, methodOfWireName } from '@chain-data/protocol'
import {
  checkBatch,
  checkFailure,
  checkParams,
  checkRequest,
  checkResult,
  checkSuccess,
  type Mistake
} from '@chain-data/protocol/validators'
import { parseConfig } from '@chain-data/server'
import { type Block, type Problem, placeOf } from './readBlocks.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Checks the JSON of one page: requests and answers by the document, configurations by the server's schema.
 *
 * @param blocks - Of the page, in order: an answer belongs to the request before it.
 */
export function checkJson(blocks: readonly Block[]): Problem[] {
  let lastMethod: MethodName | undefined
  return blocks.flatMap(block => {
    const message = problemOf(block, lastMethod)
    lastMethod = methodIn(block) ?? lastMethod
    return message === undefined ? [] : [{ at: placeOf(block), message }]
  })
}

function problemOf({ code, notes }: Block, lastMethod: MethodName | undefined): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(code)
  } catch (error) {
    return (error as Error).message
  }
  const place = notes.get('configuration')
  if (place !== undefined) return configurationProblem(place === '' ? value : configurationWith(place, value))
  if (Array.isArray(value)) {
    const problems = value.map(entry => problemOfValue(entry, lastMethod))
    return told(checkBatch(value)) ?? problems.find(problem => problem !== undefined)
  }
  return problemOfValue(value, lastMethod)
}

function problemOfValue(value: unknown, lastMethod: MethodName | undefined): string | undefined {
  if (!isObject(value)) return 'is none of the kinds of JSON that are checked'
  if ('method' in value) return callProblem(value)
  if ('result' in value) return told(checkSuccess(value) ?? resultMistake(value.result, lastMethod))
  if ('error' in value) return told(checkFailure(value))
  if ('code' in value && 'data' in value) return told(checkFailure(failureWith(value)))
  if ('chains' in value) return configurationProblem(value)
  if ('projects' in value) return configurationProblem(configurationWith('', value))
  return 'is none of the kinds of JSON that are checked: say where in a configuration it belongs, or why it is not checked'
}

const told = (mistake: Mistake | undefined) => mistake && `${mistake.path} ${mistake.message}`

/** A request, or what is left of one when the envelope is left out. */
function callProblem(value: Json): string | undefined {
  const call = { jsonrpc: '2.0', ...value }
  const method = methodAt(String(value.method), Number(value.chainId))
  if (method === undefined) return `there is no method ${value.method}`
  return told(checkRequest(call) ?? checkParams(method, value.params))
}

function resultMistake(result: unknown, method: MethodName | undefined): Mistake | undefined {
  return method === undefined
    ? { path: '', message: 'answers no request above' }
    : checkResult(method, result)
}

function methodIn({ code }: Block): MethodName | undefined {
  const [, name] = /"method":\s*"([^"]+)"/.exec(code) ?? []
  const [, chainId] = /"chainId":\s*(\d+)/.exec(code) ?? []
  return name === undefined ? undefined : methodAt(name, Number(chainId))
}

/** Of a method with a form for each endpoint the one of the chain: pages do not name endpoints. */
function methodAt(name: string, chainId: number): MethodName | undefined {
  const isSolana = chainId >= 101 && chainId <= 103
  return (isSolana ? methodOfWireName(name, undefined, '/solana') : undefined) ?? methodOfWireName(name)
}

/** An error as a page may show it, without its message. */
function failureWith(error: Json): Json {
  const reason = String((error.data as Json | undefined)?.reason)
  const message = Object.hasOwn(errors, reason) ? errors[reason as keyof typeof errors].message : ''
  return { jsonrpc: '2.0', id: 1, error: { message, ...error } }
}

/**
 * The smallest configuration with a fragment in it.
 *
 * @param place - Keys and indices to the fragment, as `chains.evm[0].waive[0]`; what is there already gets its members.
 */
function configurationWith(place: string, fragment: unknown): unknown {
  const whole = {
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: { evm: [{ chainId: 31337, rpcUrls: ['http://127.0.0.1:8545'] }] }
  }
  const keys = place.split(/[.[\]]+/).filter(key => key !== '')
  return put(whole, keys, fragment)
}

function put(into: unknown, keys: readonly string[], fragment: unknown): unknown {
  const [key, ...others] = keys
  if (key === undefined) return isObject(into) && isObject(fragment) ? { ...into, ...fragment } : fragment
  const list = /^\d+$/.test(key)
  const copy: Record<string, unknown> = { ...(isObject(into) || Array.isArray(into) ? into : {}) }
  copy[key] = put(copy[key], others, fragment)
  return list ? Object.values(copy) : copy
}

function configurationProblem(value: unknown): string | undefined {
  try {
    parseConfig(value)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
