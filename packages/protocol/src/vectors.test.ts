import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { RpcFailure, RpcRequest } from './generated/types.gen.ts'
import { endpoints, methodFacts } from './index.ts'
import type { EndpointPath } from './methodTypes.ts'
import { checkFailure, checkParams, checkRequest } from './validators.ts'
import { methodOfWireName } from './wireName.ts'

const folder = fileURLToPath(new URL('../../../spec/vectors', import.meta.url))

describe('the vectors of the methods', () => {
  // Those of the other folders are about ids, batches and HTTP; the conformance kit sends all of them.
  const methods = Object.keys(methodFacts)
  const paths = globSync(
    methods.map(method => `${method}/*.io`),
    { cwd: folder }
  ).sort()

  it('cover every method', () => {
    expect(new Set(paths.map(path => path.split('/')[0]))).toEqual(new Set(methods))
  })

  it.each(paths)('%s is what the validators and the error table give', path => {
    const lines = readFileSync(`${folder}/${path}`, 'utf8').split('\n')
    const [about, post, sent, received, end] = lines.filter(line => !line.startsWith('// extension: '))
    expect(about).toMatch(/^\/\/ [A-Z].*\.$/)
    expect(end).toBe('')
    const endpoint = /^\/\/ POST (\/[a-z-]+)$/.exec(post ?? '')?.[1] as EndpointPath
    const request = JSON.parse(sent?.replace(/^>> /, '') ?? '') as RpcRequest
    const answer = JSON.parse(received?.replace(/^<< /, '') ?? '') as RpcFailure
    expect(checkFailure(answer)).toBeUndefined()
    expect(answer.chainId).toBe(endpoints[endpoint].responseChainId === 'echo' ? request.chainId : undefined)
    const { data } = answer.error
    expect({ reason: data.reason, path: data.path }).toEqual(expected(endpoint, request))
    expect(answer.id).toBe(checkRequest(request)?.path === '/id' ? null : request.id)
  })
})

function expected(endpoint: EndpointPath, request: RpcRequest) {
  const envelope = checkRequest(request)
  if (envelope) return { reason: envelope.reason, path: envelope.path }
  const method = methodOfWireName(request.method, undefined, endpoint)
  if (method === undefined) {
    return { reason: 'METHOD_NOT_FOUND', path: undefined }
  }
  if (request.chainId === undefined) return { reason: 'INVALID_PARAMS', path: '/chainId' }
  return { reason: 'INVALID_PARAMS', path: checkParams(method, request.params)?.path }
}
