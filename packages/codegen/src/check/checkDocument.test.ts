import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ExamplePairing, Schema, ServiceDocument } from '../document.ts'
import { checkDocument } from './checkDocument.ts'
import { InvalidDocumentError } from './InvalidDocumentError.ts'

const text = readFileSync(new URL('../../../../spec/openrpc.json', import.meta.url), 'utf8')

interface WithPairings {
  components: { examplePairings: Record<string, ExamplePairing> }
}

async function problemsAfter(
  change: (document: ServiceDocument & WithPairings) => void
): Promise<readonly string[]> {
  const document = JSON.parse(text)
  change(document)
  const error = await checkDocument(document).then(
    () => undefined,
    reason => reason
  )
  if (error === undefined) return []
  if (!(error instanceof InvalidDocumentError)) throw error
  return error.problems
}

function property(document: ServiceDocument, schema: string, name: string): Schema {
  const found = document.components.schemas[schema]?.properties?.[name]
  if (typeof found !== 'object') throw new Error(`${schema} has no ${name}`)
  return found
}

it('accepts the document of the service', async () => {
  expect(await problemsAfter(() => {})).toEqual([])
})

describe('refuses', () => {
  it.each<[string, (document: ServiceDocument & WithPairings) => void, RegExp]>([
    [
      'what the meta-schema of OpenRPC refuses',
      d => Object.assign(d, { surplus: true }),
      /surplus|additional/i
    ],
    ['a method name used twice', d => d.methods.push(d.methods[0]!), /the name is used twice/],
    [
      'a dangling reference',
      d => (d.methods[0]!.result.schema = { $ref: '#/components/schemas/Nothing' }),
      /result\/schema refers to #\/components\/schemas\/Nothing/
    ],
    [
      'a recursive schema',
      d => (property(d, 'EvmNft', 'data').$ref = '#/components/schemas/EvmNft'),
      /recursive: .*EvmNft -> #\/components\/schemas\/EvmNft/
    ],
    [
      'a schema that recurs through another',
      d => (property(d, 'SolanaNftMetadataData', 'uriData').$ref = '#/components/schemas/SolanaNft'),
      /recursive/
    ],
    [
      'example params that contradict the params schema',
      d => (d.components.examplePairings.EvmHoldings!.params = []),
      /example "All holdings" of svc_getTokensAndNFTs: params/
    ],
    [
      'an example result that contradicts the result schema',
      d =>
        (d.components.examplePairings.TransactionHistoryEmpty!.result = { name: 'transactions', value: {} }),
      /example "An address without transactions" of svc_getTransactionsByAddress: result/
    ],
    [
      'an example on an endpoint the method is not on',
      d => (d.components.examplePairings.SyncStatusSolana!['x-endpoint'] = '/sui'),
      /the method is not on \/sui/
    ],
    ['a method without example', d => (d.methods[0]!.examples = []), /needs an example/],
    [
      'a schema without title',
      d => delete d.components.schemas.EvmToken!.title,
      /schema EvmToken: needs a title/
    ],
    [
      'a property without description',
      d => delete property(d, 'EvmToken', 'decimals').description,
      /schema EvmToken\/decimals: needs a description/
    ],
    [
      'a property that is only a reference, without description',
      d => delete property(d, 'EvmToken', 'amount').description,
      /schema EvmToken\/amount: needs a description/
    ],
    [
      'an extension that is required',
      d => d.components.schemas.EvmHoldings!.required!.push('asOf'),
      /schema EvmHoldings\/asOf: an extension must not be required/
    ],
    [
      'a pattern without words for it',
      d => delete d.components.schemas.Hash32!['x-expected'],
      /schema Hash32: a pattern needs x-expected/
    ],
    [
      'a keyword whose validator would need run-time code',
      d => Object.assign(property(d, 'EvmToken', 'name'), { minLength: 1 }),
      /minLength is not supported/
    ],
    [
      'a schema bound that is not the limit it names',
      d => (d['x-limits'].tokenAddresses!.default = 50),
      /schema TokenAddressList: its maximum is not the limit tokenAddresses \(50\)/
    ],
    [
      'a response chainId that contradicts the endpoint',
      d => (d.methods[0]!['x-response-chainId'] = 'echo'),
      /x-response-chainId is echo, but its endpoints say absent/
    ],
    [
      'a prefix flag that contradicts the name',
      d => (d.methods[0]!['x-prefixed'] = false),
      /x-prefixed contradicts/
    ],
    [
      'an endpoint nobody declared',
      d => (d.methods[0]!['x-endpoint'] = '/sui'),
      /x-endpoint \/sui is none of/
    ],
    [
      'fewer loose params than the exact forms have',
      d => d.methods[0]!.params.pop(),
      /params has 1 entries, x-params-schema up to 2/
    ],
    [
      'an error listed with another code',
      d => (d.components.errors.NOT_SYNCED!.code = -32001),
      /components.errors.NOT_SYNCED: contradicts x-errors/
    ],
    [
      'an error example with another code',
      d => (d['x-errors'].INTERNAL!.example.error.code = -32602),
      /error INTERNAL: its example has another code/
    ],
    [
      'an error example without the data its case promises',
      d => Reflect.deleteProperty(d['x-errors'].RATE_LIMITED!.example.error.data, 'retryAfterMs'),
      /error RATE_LIMITED: the data of its example/
    ],
    [
      'an error without an example',
      d => Reflect.deleteProperty(d['x-errors'].INTERNAL!, 'example'),
      /error INTERNAL: needs "example"/
    ],
    [
      'an error without a word on what to do',
      d => (d['x-errors'].INTERNAL!.remedy = ''),
      /error INTERNAL: needs "remedy"/
    ],
    [
      'two errors with one message',
      d => (d['x-errors'].OVERLOADED!.message = 'Chain node unavailable'),
      /error OVERLOADED: has the message of UPSTREAM_UNAVAILABLE/
    ]
  ])('%s', async (_, change, problem) => {
    const problems = await problemsAfter(document => void change(document))
    expect(problems.join('\n')).toMatch(problem)
  })
})
