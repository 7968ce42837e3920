import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compile, createAjv, toValidationSchema } from './compileSchemas.ts'
import { examplesOf, type ServiceDocument } from './document.ts'

const path = new URL('../../../spec/openrpc.json', import.meta.url)
const document = JSON.parse(readFileSync(path, 'utf8')) as ServiceDocument

describe('the chain of if/then/else', () => {
  const exact = createAjv(document, 'exact')
  const chained = createAjv(document, 'chained')

  it('accepts exactly the params that oneOf accepts', () => {
    const address = '6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe'
    const firsts = [
      address,
      'short',
      7,
      null,
      {},
      { accountAddress: address },
      { accountAddress: 7 },
      { accountAddress: address, parseMetadataUri: true },
      { accountAddress: address, parseMetadataUri: 1 },
      { accountAddress: address, other: true },
      { parseMetadataUri: true },
      { options: {} }
    ]
    const seconds = [
      {},
      { parseMetadataUri: false },
      { parseMetadataUri: 'yes' },
      { options: {} },
      { options: { parseMetadataUri: true } },
      { options: { other: 1 } },
      { options: {}, parseMetadataUri: true },
      null,
      'text',
      []
    ]
    const candidates: unknown[] = [[], {}, 'text', null, ...firsts.map(first => [first])]
    for (const first of firsts) {
      for (const second of seconds) candidates.push([first, second], [first, second, {}])
    }
    const ref = '#/components/schemas/EnhancedTokensAndNFTsParams'
    const [asWritten, asEmitted] = [compile(exact, ref), compile(chained, ref)]
    const accepted = candidates.filter(candidate => asWritten(candidate))
    expect(candidates.filter(candidate => asEmitted(candidate))).toEqual(accepted)
    // Form A, its variant with the option inside, form B; A with 2 kinds of options, 2 each; B with 2.
    expect(accepted).toHaveLength(3 + 4 + 2)
  })

  it('accepts exactly the records that oneOf accepts', () => {
    const method = document.methods.find(({ name }) => name === 'svc_getTransactionsByAddress')
    const records = examplesOf(document, method!)[0]!.result as Record<string, unknown>[]
    const changed = records.flatMap(record => [
      record,
      ...[0, 1, 2, 3, 4, undefined].map(status => ({ ...record, status })),
      ...[0, 1, 2, 126].map(type => ({ ...record, type })),
      ...Object.keys(record).map(key =>
        Object.fromEntries(Object.entries(record).filter(([each]) => each !== key))
      )
    ])
    const ref = '#/components/schemas/TransactionRecord'
    const [asWritten, asEmitted] = [compile(exact, ref), compile(chained, ref)]
    const accepted = changed.filter(record => asWritten(record))
    expect(changed.filter(record => asEmitted(record))).toEqual(accepted)
    expect(accepted.length).toBeGreaterThanOrEqual(records.length)
    expect(accepted.length).toBeLessThan(changed.length)
  })
})

it('refuses alternatives that nothing tells apart', () => {
  expect(() => toValidationSchema({ oneOf: [{ title: 'One' }, { title: 'Other' }] })).toThrow(
    /"One" needs x-when/
  )
})
