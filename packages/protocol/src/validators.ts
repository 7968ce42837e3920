/**
 * Whether params, results, requests and answers fit the document. Apart from the main entry, because few callers need it and
 * it is large.
 *
 * @packageDocumentation
 */
import { errors } from './generated/errors.gen.ts'
import { memberNames } from './generated/expectations.gen.ts'
import { paramsValidators, requestValidators } from './generated/paramsValidators.gen.ts'
import { answerValidators, errorDataValidators, resultValidators } from './generated/resultValidators.gen.ts'
import type { RpcFailure, RpcRequest } from './generated/types.gen.ts'
import type { ErrorReason, MethodName } from './methodTypes.ts'
import { type AjvError, type Mistake, toMistake } from './mistake.ts'

export type { Mistake } from './mistake.ts'

/** A function of ajv's standalone output; `errors` belongs to its latest call. */
interface Validate {
  (value: unknown, context: { instancePath: string }): boolean
  errors?: readonly AjvError[] | null
}

function run(
  validate: unknown,
  value: unknown,
  instancePath: string,
  names: readonly string[] = []
): Mistake | undefined {
  const check = validate as Validate
  if (check(value, { instancePath })) return undefined
  const first = check.errors?.[0]
  if (first === undefined) return { path: instancePath, message: 'is not valid' }
  const keys = first.instancePath.slice(instancePath.length).split('/').slice(1)
  const holder = keys.reduce<unknown>((at, key) => Reflect.get(Object(at), unescapeKey(key)), value)
  return toMistake(first, holder, names)
}

function unescapeKey(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}

/**
 * What is wrong with the params of a call.
 *
 * @returns One mistake, its path from the root of the request (`/params/1/limit`): the `path` of
 *   INVALID_PARAMS. `undefined`: the params fit, and may be taken as `MethodParams<M>`.
 */
export function checkParams(method: MethodName, params: unknown): Mistake | undefined {
  return run(paramsValidators[method], params, '/params', memberNames[method])
}

/** A mistake in a request's envelope, and the error case it is. */
export interface RequestMistake extends Mistake {
  /** The error case that answers it. */
  readonly reason: 'INVALID_REQUEST' | 'INVALID_PARAMS'
}

/**
 * What is wrong with the envelope of one request; says nothing about whether its params fit.
 *
 * A missing `id` or `chainId` is no mistake here. A malformed `chainId`, and params by name, are
 * INVALID_PARAMS: with them the body still is a JSON-RPC request.
 */
export function checkRequest(request: unknown): RequestMistake | undefined {
  const mistake = run(requestValidators.request, request, '')
  if (mistake === undefined) return undefined
  const named = mistake.path === '/params' && typeof (request as RpcRequest).params === 'object'
  const aboutParams = mistake.path === '/chainId' || (named && (request as RpcRequest).params !== null)
  return { ...mistake, reason: aboutParams ? 'INVALID_PARAMS' : 'INVALID_REQUEST' }
}

/** What is wrong with a batch as a whole: its length. Entries are checked by `checkRequest`. */
export function checkBatch(batch: unknown): Mistake | undefined {
  return run(requestValidators.batch, batch, '')
}

/** What is wrong with a method's result, read by `JSON.parse`; unknown members are mistakes. */
export function checkResult(method: MethodName, result: unknown): Mistake | undefined {
  return run(resultValidators[method], result, '')
}

/** What is wrong with the envelope of a successful answer; its result is not looked into. */
export function checkSuccess(answer: unknown): Mistake | undefined {
  return run(answerValidators.success, answer, '')
}

/** What is wrong with a failed answer: envelope, code and message against the table, data of its reason. */
export function checkFailure(answer: unknown): Mistake | undefined {
  const mistake = run(answerValidators.failure, answer, '')
  if (mistake) return mistake
  const { code, message, data } = (answer as RpcFailure).error
  if (!Object.hasOwn(errors, data.reason))
    return { path: '/error/data/reason', message: 'is not in the error table' }
  const row = errors[data.reason as ErrorReason]
  if (row.code !== code) return { path: '/error/code', message: `must be ${row.code}` }
  if (row.message !== message)
    return { path: '/error/message', message: `must be ${JSON.stringify(row.message)}` }
  return run(errorDataValidators[row.reason], data, '/error/data')
}
