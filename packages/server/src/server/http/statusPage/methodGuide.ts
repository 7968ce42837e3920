import {
  defaultMethodPrefix,
  type EndpointPath,
  type MethodName,
  methodFacts,
  wireName
} from '@chain-data/protocol'
import { openRpcDocument } from '@chain-data/protocol/document'
import { examples } from '@chain-data/protocol/examples'
import { type Html, html } from './view/html.ts'

/** Longest example answer on the page, in characters; the document has all of them whole. */
const longestAnswer = 1_000

/** Filled in by the page's script; only the browser knows by which address this server is reached. */
const origin = html`<span data-origin>https://your-server.example</span>`

/** How each method of the document is called on this server, as a section of the status page. */
export function methodGuide(
  chainIds: Readonly<Record<EndpointPath, readonly number[]>>,
  methodPrefix: string
): Html {
  const names = Object.keys(methodFacts) as MethodName[]
  const prefix = methodPrefix === defaultMethodPrefix ? '' : `, methodPrefix: '${methodPrefix}'`
  const client = html`import { createClient } from '@chain-data/client'
const client = createClient({ baseUrl: '${origin}',
  projectId: '$PROJECT_ID', serverKey: '$SERVER_KEY'${prefix} })`
  return html`<section class="guide" aria-labelledby="calls"><h2 id="calls">How to call it</h2><p>JSON-RPC 2.0 over POST, with HTTP Basic credentials: put a project id and its server key in place of <code>$PROJECT_ID</code> and <code>$SERVER_KEY</code>, the account you want to know of in place of the example's. In a program:</p>${code('client', 'Copy the lines that make a client', client)}${names.map(name => guideOf(name, chainIds, methodPrefix))}</section>`
}

function guideOf(
  name: MethodName,
  chainIds: Readonly<Record<EndpointPath, readonly number[]>>,
  methodPrefix: string
): Html {
  const { endpoints, needsChain } = methodFacts[name]
  // The endpoint that has chains, if any: an example should work when it is pasted.
  const endpoint = endpoints.find(path => chainIds[path].length > 0) ?? endpoints[0] ?? '/evm-chain'
  const served = chainIds[endpoint][0]
  const example = examples[name].find(known => known.endpoint === endpoint) ?? examples[name][0]
  const chain = needsChain ? { chainId: served ?? example?.chainId } : {}
  const params = example?.params ?? []
  const method = wireName(name, methodPrefix)
  const head = JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...chain }).slice(0, -1)
  // Two lines, which JSON does not mind and most screens are wide enough for.
  const body = `${head},\n    "params":${JSON.stringify(params)}}`
  const curl = html`curl -u "$PROJECT_ID:$SERVER_KEY" \\
  -H 'content-type: application/json' \\
  -d '${body.replaceAll("'", `'\\''`)}' \\
  ${origin}${endpoint}`
  const otherEndpoint = endpoint === endpoints[0] ? {} : { endpoint }
  const call = `await client.request(${toSource({ method: name, ...chain, ...otherEndpoint }).slice(0, -2)},
  params: ${toSource(params)} })`
  const id = `call-${name.replace(/[^A-Za-z0-9]/g, '-')}`
  const unserved = served === undefined && needsChain ? ' No chain of this endpoint is served here.' : ''
  return html`<article class="card method"><h3>${method}</h3><p>${introductionOf(name)} At <code>${endpoints.join(' and ')}</code>.${unserved}</p>${code(`${id}-curl`, `Copy the curl command of ${method}`, curl)}${code(`${id}-sdk`, `Copy the client call of ${method}`, html`${call}`)}<details><summary>Example answer of ${method}</summary><pre tabindex="0">${answerText(example?.result)}</pre></details></article>`
}

function code(id: string, label: string, text: Html): Html {
  return html`<div class="code"><pre id="${id}" tabindex="0">${text}</pre><button type="button" data-copy="${id}" aria-label="${label}">Copy</button></div>`
}

/** Summary and first sentence of the description, `code` in them as such. */
function introductionOf(name: MethodName): Html {
  const method = openRpcDocument.methods.find(known => known.name === name)
  const [summary = '', description = ''] = [method?.summary, method?.description].map(text =>
    typeof text === 'string' ? text : ''
  )
  const sentences = `${summary} ${/^.*?\.(?= |$)/.exec(description)?.[0] ?? ''}`.split('`')
  return html`${sentences.map((text, place) => (place % 2 === 0 ? text : html`<code>${text}</code>`))}`
}

/** As a person would write it in a program. */
function toSource(value: unknown): string {
  if (typeof value === 'string') return `'${value.replace(/[\\']/g, '\\$&')}'`
  if (Array.isArray(value)) return `[${value.map(toSource).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).map(([key, member]) => `${key}: ${toSource(member)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

function answerText(result: unknown): string {
  const text = JSON.stringify(result, null, 2) ?? ''
  return text.length <= longestAnswer ? text : `${text.slice(0, text.lastIndexOf('\n', longestAnswer))}\n…`
}
