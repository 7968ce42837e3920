import { docstring } from '../typeScript.ts'
import type { ClientMethod } from './readClientMethod.ts'

/** `queries.gen.ts` of the client: for each method that needs a chain, a function that makes the options of a query. */
export function emitQueries(methods: readonly ClientMethod[]): string {
  const asked = methods.filter(({ isChainless }) => !isChainless)
  return `import type { SkipToken } from '@tanstack/query-core'
import type { ChainOptional } from '../Chain.ts'
import { createQuery } from '../query/createQuery.ts'
import type { ChainDataQuery, ClientWith, QueryArgumentsOf } from '../query/QueryOptions.ts'
import type { ${asked
    .map(({ argumentsType }) => argumentsType)
    .concat('Calls')
    .sort()
    .join(', ')} } from './calls.gen.ts'

${asked.map(emitQuery).join('\n\n')}
`
}

function emitQuery({ name, argumentsType, method, int64 }: ClientMethod): string {
  const wide = int64.length > 0
  const generic = wide
    ? '<Chain extends ChainOptional, Int64 extends number | string | bigint>'
    : '<Chain extends ChainOptional>'
  const client = wide ? `ClientWith<'${name}', Chain, Int64>` : `ClientWith<'${name}', Chain>`
  const data = `Calls${wide ? '<Int64>' : ''}['${name}']['result']`
  const given = `QueryArgumentsOf<${argumentsType}, Chain>`
  const remark = method['x-extension'] ? ' An extension: not every host has it.' : ''
  const signature = (args: string, result: string) =>
    `export function ${name}Query${generic}(client: ${client}, args: ${args}): ${result}`
  return `${docstring(`${method.summary} As the options of a query of TanStack Query 5; \`skipToken\` in place of the arguments disables it.${remark}`)}
${signature(given, `ChainDataQuery<${data}>`)}
${signature(`${given} | SkipToken`, `ChainDataQuery<${data}, SkipToken>`)}
export function ${name}Query(client: unknown, args: unknown): unknown {
  return createQuery('${name}', client, args)
}`
}
