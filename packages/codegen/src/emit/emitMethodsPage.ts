import { endpointsOf, examplesOf, type Method, type ServiceDocument } from '../document.ts'
import { code, json, table } from './markdown.ts'
import { schemaSections, typeName } from './schemaSections.ts'

/** `docs/methods.md`: the whole interface for readers: envelope, methods, types, errors, limits. */
export function emitMethodsPage(document: ServiceDocument): string {
  const sections = [
    `# Methods\n\n${document.info.description}\n\nInterface version ${document.info.version}.`,
    envelopeSection(document),
    ...document.methods.map(method => methodSection(document, method)),
    `## Types\n\nMembers marked *extension* go beyond the service document.`,
    ...schemaSections(document),
    errorSection(document),
    limitSection(document)
  ]
  return `${sections.join('\n\n')}\n`
}

function envelopeSection(document: ServiceDocument): string {
  const envelope = document['x-envelope']
  const rows = document['x-endpoints'].map(({ path, description }) => [
    `\`POST {base_url}${path}\``,
    description
  ])
  return `## Requests and answers

${table(['endpoint', 'chains'], rows)}

Every request carries HTTP Basic credentials and \`Content-Type: application/json\`; its body is a ${typeName(document, envelope.request)}, or an array of them. The answer is a ${typeName(document, envelope.success)} or a ${typeName(document, envelope.failure)}.

- **id**: ${envelope.id.description}
- **chainId**: ${envelope.chainId.description}
- **Batches**: 1 to ${envelope.batchRules.maxItems} requests. ${envelope.batchRules.description}
- **Method prefix**: ${document['x-method-prefix'].description}`
}

function methodSection(document: ServiceDocument, method: Method): string {
  const [first, ...others] = examplesOf(document, method)
  const facts = [
    `- Endpoint: ${endpointsOf(method).map(code).join(' and ')}`,
    `- Params: ${typeName(document, method['x-params-schema'])}`,
    `- Result: ${typeName(document, method.result.schema)}`,
    `- Errors of its own: ${(method.errors ?? []).map(({ $ref }) => reasonLink($ref)).join(', ')}`
  ]
  if (method['x-extension']) facts.push('- An extension: not part of the service document.')
  if (method['x-needs-chain'] === false) facts.push('- Needs no `chainId`.')
  const parts = [`## ${method.name}`, `${method.summary} ${method.description}`, facts.join('\n')]
  if (first) {
    const { endpoint, chainId, params, result } = first
    const request = { jsonrpc: '2.0', id: 1, method: method.name, chainId, params }
    const echo = document['x-endpoints'].find(({ path }) => path === endpoint)?.responseChainId === 'echo'
    const answer = { jsonrpc: '2.0', id: 1, ...(echo ? { chainId } : {}), result }
    parts.push(`${first.name}:`, json(request), json(answer))
  }
  const different = others.filter(example => example.params.length > 0)
  if (different.length > 0) {
    const rows = different.map(example => [example.name, `\`${JSON.stringify(example.params)}\``])
    parts.push('More calls:', table(['call', 'params'], rows))
  }
  return parts.join('\n\n')
}

function errorSection(document: ServiceDocument): string {
  const cases = Object.entries(document['x-errors'])
  const rows = cases.map(([reason, each]) => [
    `<a id="${reason.toLowerCase()}"></a>\`${reason}\``,
    String(each.code),
    String(each.httpStatus),
    each.message,
    each.retryable ? 'yes' : 'no',
    typeName(document, each.data),
    each.when
  ])
  const examples = cases.map(([reason, each]) => `\`${reason}\`\n\n${json(each.example)}`)
  return `## Errors

Branch on \`error.data.reason\`: it is stable. Inside a batch the HTTP status is always 200. *Retry*: the same request may succeed later.

${table(['reason', 'code', 'HTTP', 'message', 'retry', 'data', 'when'], rows)}

<details><summary>One answer per case</summary>

${examples.join('\n\n')}

</details>`
}

function limitSection(document: ServiceDocument): string {
  const rows = Object.entries(document['x-limits']).map(([name, limit]) => [
    `\`${name}\``,
    `${limit.default} ${limit.unit}`,
    limit.description
  ])
  return `## Limits\n\nDefaults; a host may set others.\n\n${table(['limit', 'default', 'meaning'], rows)}`
}

function reasonLink(ref: string): string {
  const reason = ref.slice(ref.lastIndexOf('/') + 1)
  return `[\`${reason}\`](#${reason.toLowerCase()})`
}
