import {
  type CallExample,
  endpointsOf,
  examplesOf,
  type Method,
  nameOf,
  type ServiceDocument
} from '../../document.ts'
import { code, folded, json, table } from './markdown.ts'
import { createLinks, pageOf } from './placeTypes.ts'
import { schemaSections } from './schemaSections.ts'

/** `docs/methods/<name>.md`: what a method does, every example with its answer, and its own types. */
export function emitMethodPage(document: ServiceDocument, method: Method): string {
  const page = pageOf(method.name)
  const links = createLinks(document, page)
  const facts = [
    ['Endpoint', endpointsOf(method).map(code).join(' and ')],
    ['Params', links.type(method['x-params-schema'])],
    ['Result', links.type(method.result.schema)],
    ['Chain', method['x-needs-chain'] === false ? 'needs no `chainId`' : '`chainId` in the request'],
    ['Errors of its own', (method.errors ?? []).map(error => links.reason(nameOf(error))).join(', ')]
  ]
  const [first, ...others] = examplesOf(document, method)
  const { 'x-wire-name': wireName = method.name } = method
  const title = wireName === method.name ? wireName : `${wireName} on ${endpointsOf(method)}`
  const parts = [`# ${title}`, `${method.summary} ${method.description}`]
  if (wireName !== method.name)
    parts.push(`On the wire \`${wireName}\`; \`${method.name}\` names this form of it in code.`)
  if (method['x-extension']) parts.push('*Extension*: the service document does not have this method.')
  parts.push(table(['', ''], facts), '## Example')
  if (first) parts.push(`${first.name}:`, exchange(document, method, first))
  if (others.length > 0) {
    parts.push('## More examples', ...others.map(each => folded(each.name, exchange(document, method, each))))
  }
  const types = schemaSections(document, page)
  if (types.length > 0) {
    parts.push(
      '## Types',
      `The rest is among the [common types](types.md). How requests travel: [Methods](../methods.md#requests-and-answers).`,
      ...types
    )
  }
  return `${parts.join('\n\n')}\n`
}

function exchange(document: ServiceDocument, method: Method, example: CallExample): string {
  const { endpoint, chainId, params, result, cursors } = example
  const echo = document['x-endpoints'].find(({ path }) => path === endpoint)?.responseChainId === 'echo'
  const request = { jsonrpc: '2.0', id: 1, method: method['x-wire-name'] ?? method.name, chainId, params }
  if (cursors) return `${json(request)}\n\nThe events:\n\n${events(cursors, result as unknown[])}`
  const answer = { jsonrpc: '2.0', id: 1, ...(echo ? { chainId } : {}), result }
  return `${json(request)}\n\nThe answer:\n\n${json(answer)}`
}

function events(cursors: readonly string[], values: readonly unknown[]): string {
  const texts = values.map((value, index) => `id: ${cursors[index]}\ndata: ${JSON.stringify(value)}`)
  return `\`\`\`text\n${texts.join('\n\n')}\n\`\`\``
}
