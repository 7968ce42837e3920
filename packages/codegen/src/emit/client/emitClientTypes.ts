import { nameOf } from '../../document.ts'
import { docstring, literal } from '../typeScript.ts'
import type { Argument, ClientMethod } from './readClientMethod.ts'

/** `calls.gen.ts` of the client: arguments and results of every method, and the methods of a client with their documentation. */
export function emitClientTypes(
  methods: readonly ClientMethod[],
  streams: readonly ClientMethod[] = []
): string {
  const results = new Map(methods.map(method => [method.resultName, method]))
  const imports = [...results.values()].map(({ resultName, rounded, amounts }) =>
    rounded.length + amounts.length > 0 ? `${resultName} as Wire${resultName}` : resultName
  )
  return `import type { EndpointPath, ${imports.sort().join(', ')} } from '@chain-data/protocol'
import type { CallOptions } from '../ClientOptions.ts'
import type { ChainOptional } from '../Chain.ts'
import type { ExactAmounts, ExactDigits } from '../exact.ts'

${[...results.values()].map(emitResult).filter(Boolean).join('\n\n')}

${methods.map(method => emitArguments(method)).join('\n\n')}

${streams.map(stream => emitArguments(stream, '')).join('\n\n')}

/** Arguments and result of every method, by its name. @typeParam Int64 - Of 64-bit integers. @typeParam Address - Of Solana addresses. */
export interface Calls<Int64 extends number | string | bigint = number, Address extends string = string> {
${methods.map(method => `  /** Of \`${method.name}\`. */\n  ${method.name}: { arguments: ${method.argumentsType}; result: ${resultType(method)} }`).join('\n')}
}

/** The methods that need no chain. */
export type ChainlessMethod = ${union(methods.filter(({ isChainless }) => isChainless))}

/** The methods of EVM chains. */
export type EvmMethod = ${union(methods.filter(each => !each.isChainless && each.endpoints.includes('/evm-chain')))}

/** The methods of Solana. */
export type SolanaMethod = ${union(methods.filter(each => !each.isChainless && each.endpoints.includes('/solana')))}

/** The name that each method of the document has in the client, by its name on the wire; of one with a form for each endpoint, the first. */
export interface WireNames {
${methods
  .filter(({ formOf }) => !formOf)
  .map(({ name, method }) => `  /** In the client \`${name}\`. */\n  '${method.name}': '${name}'`)
  .join('\n')}
}

/** The methods that answer in another form at another endpoint, by their names on the wire. */
export type FormedName = ${methods.flatMap(({ formOf, method }) => (formOf ? [`'${method['x-wire-name']}'`] : [])).join(' | ') || 'never'}

/** Every method of the document, as a function. They need no \`this\`. */
export interface Methods<Chain, Int64 extends number | string | bigint = number, Address extends string = string> {
${methods.map(emitMember).join('\n')}
}
`
}

function union(methods: readonly ClientMethod[]): string {
  return methods.map(({ name }) => `'${name}'`).join(' | ') || 'never'
}

/** The type of a result, with the type parameters that it has. The types that the client makes of some have none. */
function resultType({ resultName, resultParameters, rounded, amounts }: ClientMethod): string {
  const isOwn = rounded.length + amounts.length > 0
  return isOwn || resultParameters.length === 0 ? resultName : `${resultName}<${resultParameters.join(', ')}>`
}

function emitResult({ resultName, resultDescription, rounded, amounts }: ClientMethod): string {
  if (rounded.length > 0) {
    const members = rounded.map(name => `'${name}'`).join(' | ')
    return `${docstring(`${resultDescription} ${roundedRemark(rounded)}`)}
export type ${resultName} = ExactDigits<Wire${resultName}, ${members}>`
  }
  if (amounts.length === 0) return ''
  const members = amounts.map(name => `'${name}'`).join(' | ')
  return `${docstring(`${resultDescription} ${amountsRemark}`)}
export type ${resultName} = ExactAmounts<Wire${resultName}, ${members}>`
}

const amountsRemark =
  'Amounts are exact: what is decimal digits on the wire is `bigint` here. `JSON.stringify` refuses a `bigint`; the `text` of `onAnswer` is the answer as it came.'

function roundedRemark(members: readonly string[]): string {
  const names = members.map(name => `\`${name}\``).join(' and ')
  return `Where a number could not hold ${names}, exact digits are next to it (\`${members[0]}String\`).`
}

function emitArguments(
  { name, argumentsType, positions, endpoints }: ClientMethod,
  base = 'extends CallOptions '
): string {
  const all = positions.flatMap(position => ('options' in position ? position.options : [position]))
  const members = all.filter(({ alias }) => !alias).map(emitArgument)
  if (endpoints.length > 1) {
    members.push(`${docstring(`Which family the chain belongs to: the id alone does not tell. Default \`${endpoints[0]}\`.`, '  ')}
  readonly endpoint?: EndpointPath | undefined`)
  }
  const head = docstring(`Arguments of \`${name}\`, besides the chain.`)
  const alternatives = all.filter(({ alias }) => alias).map(emitAlternatives)
  if (alternatives.length === 0) {
    return `${head}\nexport interface ${argumentsType} ${base}{\n${members.join('\n')}\n}`
  }
  return `${head}\nexport type ${argumentsType} = CallOptions & {\n${members.join('\n')}\n} & ${alternatives.join(' & ')}`
}

function emitArgument({ name, isRequired, description, type }: Argument): string {
  const member = isRequired ? `${name}: ${type}` : `${name}?: ${type} | undefined`
  return `${docstring(description, '  ')}\n  readonly ${member}`
}

/** An argument with two names, of which one is given. */
function emitAlternatives({ name, alias, description, type }: Argument): string {
  const one = (given: string, other: string) =>
    `  | {\n${docstring(description, '      ')}\n      readonly ${given}: ${type}\n      readonly ${other}?: undefined\n    }`
  return `(\n${one(name, `${alias}`)}\n${one(`${alias}`, name)}\n)`
}

function emitMember(method: ClientMethod): string {
  const { name, argumentsType, isChainless, positions } = method
  const call = isChainless
    ? `call${positions.length > 0 ? '' : '?'}: ${argumentsType} & ChainOptional`
    : `call: ${argumentsType} & Chain`
  return `${documentation(method, `await client.${name}(${exampleArguments(method)})`, '  ')}\n  readonly ${name}: (${call}) => Promise<${resultType(method)}>`
}

/** The arguments of the example, as TypeScript on one line; without them, nothing. */
function exampleArguments({ example }: ClientMethod): string {
  return example === undefined || Object.keys(example).length === 0
    ? ''
    : literal(example).replaceAll(/\n\s*/g, ' ')
}

/** The docstring of a method, for whoever calls it in this way. */
export function documentation(method: ClientMethod, example: string, indent = ''): string {
  const { summary, description, errors = [], name: documentName } = method.method
  const { resultDescription, int64, rounded, amounts } = method
  const twins = int64.map(path => `\`${path}\``).join(', ')
  const parts = [
    `${summary} ${description}`,
    '',
    `@returns ${resultDescription}`,
    ...(int64.length > 0
      ? [
          `  ${twins}: in the form that \`int64\` asks for; exact digits are always next to it (\`${int64[0]}String\`).`
        ]
      : []),
    ...(rounded.length > 0 ? [`  ${roundedRemark(rounded)}`] : []),
    ...(amounts.length > 0 ? [`  ${amountsRemark}`] : []),
    `@throws {RpcError} Of this method: ${errors.map(error => `\`${nameOf(error)}\``).join(', ')}. And every other {@link ChainDataClientError}.`,
    ...(method.method['x-extension'] ? ['@remarks An extension: not every host has it.'] : []),
    '@example',
    example,
    `@see spec/openrpc.json ${documentName}`
  ]
  const lines = parts.flatMap(part => (part === example ? [part] : wrap(part, 116 - indent.length)))
  return [`${indent}/**`, ...lines.map(line => `${indent} * ${line}`.trimEnd()), `${indent} */`].join('\n')
}

function wrap(text: string, width: number): string[] {
  const lead = text.startsWith('  ') || text.startsWith('@') ? '  ' : ''
  const lines: string[] = []
  let line = text.startsWith('  ') ? ' ' : ''
  for (const word of text.trim().replaceAll('*/', '*\\/').split(/\s+/)) {
    if (line.length + word.length + 1 > width) {
      lines.push(line)
      line = lead.slice(1)
    }
    line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
