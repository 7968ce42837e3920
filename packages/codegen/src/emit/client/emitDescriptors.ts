import { literal } from '../typeScript.ts'
import type { ClientMethod, Position } from './readClientMethod.ts'

/**
 * `methods.gen.ts` of the client: a constant for each method, so that a bundle has those that it uses.
 *
 * @param streams - The methods that a client does not have as functions with one answer.
 */
export function emitDescriptors(
  methods: readonly ClientMethod[],
  streams: readonly ClientMethod[] = []
): string {
  const constants = [...methods, ...streams].map(method => {
    const reader = readerOf(method)
    const imported = [
      ...(isPaged(method) ? ['advice: pagesAdvice'] : []),
      ...(reader ? [`read: ${reader}`] : [])
    ]
    const body = [literal(describe(method)).slice(0, -2), ...imported].join(',\n  ').concat('\n}')
    return `export const ${method.name}: Method = ${body}`
  })
  const names = (path?: string) =>
    methods
      .filter(({ isChainless, endpoints }) => !path || (!isChainless && endpoints.includes(path)))
      .map(({ name }) => name)
      .join(', ')
  const readers = ['readAmounts', 'readIntegers'].filter(name =>
    methods.some(method => readerOf(method) === name)
  )
  return `import type { Method } from '../Method.ts'
import { pagesAdvice } from '../pagesAdvice.ts'
${readers.map(name => `import { ${name} } from '../${name}.ts'\n`).join('')}
${constants.join('\n\n')}

/** Every method with one answer. */
export const methods: readonly Method[] = [${names()}]

/** The methods about EVM chains. */
export const evmMethods: readonly Method[] = [${names('/evm-chain')}]

/** The methods about Solana. */
export const solanaMethods: readonly Method[] = [${names('/solana')}]
`
}

function describe(method: ClientMethod): object {
  const { name, formOf, endpoints, isChainless, positions, result, int64, rounded, amounts, texts } = method
  const { name: documentName, 'x-prefixed': prefixed } = method.method
  const wireName = formOf ?? (prefixed ? name : documentName)
  return {
    name,
    ...(wireName !== name && { wireName }),
    ...(prefixed && { prefixed }),
    endpoints,
    ...(isChainless && { chainless: true }),
    ...(positions.length > 0 && { params: positions.map(describePosition) }),
    result,
    ...(int64.length > 0 && { int64 }),
    ...(rounded.length > 0 && { rounded }),
    ...(amounts.length > 0 && { texts })
  }
}

function describePosition(position: Position): string | string[] {
  if ('options' in position) return position.options.map(({ name }) => name)
  const { name, alias, isRequired } = position
  return name + (alias ? `|${alias}` : '') + (isRequired ? '' : '?')
}

/** Whether the method gives its result in pages. */
function isPaged({ positions, result }: ClientMethod): boolean {
  const options = positions.flatMap(position => ('options' in position ? position.options : []))
  return result === 'list' && options.some(({ name }) => name === 'before')
}

function readerOf({ int64, rounded, amounts }: ClientMethod): string | undefined {
  if (amounts.length > 0) return 'readAmounts'
  return int64.length + rounded.length > 0 ? 'readIntegers' : undefined
}
