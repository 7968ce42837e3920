import { endpointsOf, type ServiceDocument } from '../../document.ts'
import { code, table } from './markdown.ts'
import { createLinks, methodsPage } from './placeTypes.ts'

/** `docs/methods.md`: what all methods have in common, and the way to the page of each. */
export function emitMethodsPage(document: ServiceDocument): string {
  const links = createLinks(document, methodsPage)
  const methods = document.methods.map(({ name, summary, ...method }) => [
    links.method(name, method['x-wire-name']),
    endpointsOf({ name, ...method })
      .map(code)
      .join(' and '),
    `${summary}${method['x-extension'] ? ' *Extension.*' : ''}`
  ])
  const limits = Object.entries(document['x-limits']).map(([name, limit]) => [
    code(name),
    `${limit.default} ${limit.unit}`,
    limit.description
  ])
  return `# Methods

${document.info.description}

${table(['method', 'endpoint', 'what it answers'], methods)}

Interface version ${document.info.version}. Types that several methods share: [common types](methods/types.md).

${envelopeSection(document)}

## Errors

Branch on \`error.data.reason\`: it is stable. Every case, with what to do: [Errors](errors.md#every-case).

## Limits

Defaults; a host may set others.

${table(['limit', 'default', 'meaning'], limits)}
`
}

function envelopeSection(document: ServiceDocument): string {
  const links = createLinks(document, methodsPage)
  const envelope = document['x-envelope']
  const rows = document['x-endpoints'].map(({ path, description }) => [
    `\`POST {base_url}${path}\``,
    description
  ])
  return `## Requests and answers

${table(['endpoint', 'chains'], rows)}

Every request carries HTTP Basic credentials and \`Content-Type: application/json\`; its body is a ${links.type(envelope.request)}, or an array of them. The answer is a ${links.type(envelope.success)} or a ${links.type(envelope.failure)}.

- **id**: ${envelope.id.description}
- **chainId**: ${envelope.chainId.description}
- **Batches**: 1 to ${envelope.batchRules.maxItems} requests. ${envelope.batchRules.description}
- **Streams**: ${envelope.events.description}
- **Method prefix**: ${document['x-method-prefix'].description}`
}
