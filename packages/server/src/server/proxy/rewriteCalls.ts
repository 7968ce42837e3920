import { createErrorObject, errors, limits, transport } from '@chain-data/protocol'
import { Answered, type Arrival, type Guard } from '../http/guards.ts'
import type { Target } from '../http/requestForm.ts'
import { answerHead, failureText, type RawRequest } from '../rpc/envelope.ts'
import { type RequestBody, readBody } from '../rpc/readBody.ts'

/** Guard: reads the calls and writes anew those that pages may make. */
export function rewriteCalls(
  methods: ReadonlySet<string>
): Guard<Arrival & Target & { readonly text: string }, { readonly body: string }> {
  return ({ text, ...target }) => {
    const body = readBody(text, { jsonDepth: limits.jsonDepth, batchEntries: limits.batchRequests })
    const [first] = body.requests
    if (body.isBatch || first === undefined || !isRefused(first, methods)) {
      return { body: writeCalls(body, methods) }
    }
    const error = createErrorObject('METHOD_NOT_FOUND', {
      extraMessage: 'This host does not pass this method on.'
    })
    return new Answered({
      status: errors.METHOD_NOT_FOUND.httpStatus,
      headers: { 'content-type': transport.responseContentType },
      body: failureText(answerHead(first, target), error)
    })
  }
}

/** No method can have this name: the service answers METHOD_NOT_FOUND, with the id of the call. */
const refusedName = '(not allowed here)'

/** Returns whether a call names a method that pages may not call. The service refuses a call that names none. */
function isRefused({ value }: RawRequest, methods: ReadonlySet<string>): boolean {
  const method = ownMember(value, 'method')
  return typeof method === 'string' && !methods.has(method)
}

/**
 * Writes the body that goes to the service anew from the calls that were read: what was checked is what is sent, without
 * unknown members, repeated ones and white space. Ids keep every digit.
 */
function writeCalls({ isBatch, requests }: RequestBody, methods: ReadonlySet<string>): string {
  const calls = requests.map(request => writeCall(request, methods))
  return isBatch ? `[${calls.join(',')}]` : calls.join('')
}

function writeCall(request: RawRequest, methods: ReadonlySet<string>): string {
  const { value, idText = 'null', chainId } = request
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'null'
  const method = ownMember(value, 'method')
  const members = [`"id":${idText}`]
  const add = (name: string, member: unknown) => {
    if (member !== undefined) members.push(`"${name}":${JSON.stringify(member)}`)
  }
  add('jsonrpc', ownMember(value, 'jsonrpc'))
  // What is no chain id becomes null, which is none either.
  add('chainId', chainId)
  if (isRefused(request, methods)) {
    add('method', refusedName)
    add('params', [])
  } else {
    if (typeof method === 'string') add('method', method)
    add('params', ownMember(value, 'params'))
  }
  return `{${members.join(',')}}`
}

function ownMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}
