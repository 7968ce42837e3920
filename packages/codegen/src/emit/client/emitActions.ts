import { literal } from '../typeScript.ts'
import { documentation } from './emitClientTypes.ts'
import type { ClientMethod } from './readClientMethod.ts'

/** `actions.gen.ts` of the client: a function over a connection for each method. */
export function emitActions(methods: readonly ClientMethod[]): string {
  const actions = methods.map(method => {
    const { name, argumentsType, isChainless, positions, resultName, int64, example } = method
    const optional = isChainless && positions.length === 0
    const call = `call${optional ? '?' : ''}: ${argumentsType} & ${isChainless ? 'ChainOptional' : 'Chain'}`
    const given =
      example && Object.keys(example).length > 0 ? `, ${literal(example).replaceAll(/\n\s*/g, ' ')}` : ''
    const generic =
      int64.length > 0
        ? '<Chain extends ChainOptional, Int64 extends number | string | bigint>'
        : '<Chain extends ChainOptional>'
    const connection = int64.length > 0 ? 'Connection<Chain, Int64>' : 'Connection<Chain>'
    const result = int64.length > 0 ? `${resultName}<Int64>` : resultName
    return `${documentation(method, `await ${name}(connection${given})`)}
export function ${name}${generic}(
  connection: ${connection},
  ${call}
): Promise<${result}> {
  return connection.send(methods.${name}, call${optional ? ' ?? {}' : ''}) as Promise<${result}>
}`
  })
  const own = methods.map(({ argumentsType }) => argumentsType)
  const shaped = methods.filter(({ rounded, amounts }) => rounded.length + amounts.length > 0)
  const plain = methods.filter(each => !shaped.includes(each)).map(({ resultName }) => resultName)
  return `import type { ${[...new Set(plain)].sort().join(', ')} } from '@chain-data/protocol'
import type { ChainOptional } from '../Chain.ts'
import type { Connection } from '../Connection.ts'
import * as methods from './methods.gen.ts'
import type { ${[...new Set([...own, ...shaped.map(({ resultName }) => resultName)])].sort().join(', ')} } from './calls.gen.ts'

${actions.join('\n\n')}
`
}
