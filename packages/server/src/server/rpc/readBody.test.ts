import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Refusal } from '../../platform/refusal.ts'
import { readBody } from './readBody.ts'

const limits = { jsonDepth: 64, batchEntries: 100 }

function idTextOf(idJson: string): string | undefined {
  return readBody(`{"jsonrpc": "2.0", "id": ${idJson} , "method": "m", "params": []}`, limits).requests[0]
    ?.idText
}

describe('an id', () => {
  it.each([
    '0',
    '1',
    '-1',
    '-0',
    '1.0',
    '1e3',
    '1E+3',
    '10e-1',
    '100000000000000000000e-5',
    '9007199254740991',
    '-9007199254740991',
    '9007199254740991.000',
    '9.007199254740991e15',
    '"1"',
    '"1.0"',
    '"12345678901234567890"',
    '"\\u0041"',
    '" "',
    '"😀"',
    JSON.stringify('x'.repeat(256)),
    JSON.stringify('😀'.repeat(256))
  ])('is echoed as it was written: %s', text => {
    expect(idTextOf(text)).toBe(text)
  })

  it.each([
    '9007199254740992',
    '9007199254740993',
    '-9007199254740992',
    '12345678901234567890',
    '9007199254740991.5',
    '1.5',
    '1.00000000000000000001',
    '1e-1',
    '1e400',
    '1e99999999999',
    `1${'0'.repeat(50)}`,
    'null',
    'true',
    '[]',
    '{}',
    '""',
    JSON.stringify('x'.repeat(257)),
    JSON.stringify('😀'.repeat(257))
  ])('is refused rather than changed: %s', text => {
    expect(idTextOf(text)).toBeUndefined()
  })

  it('is 1 when there is none', () => {
    expect(readBody('{}', limits).requests[0]?.idText).toBe('1')
  })

  it('is none of several, because readers choose different ones', () => {
    for (const text of [
      '{"id":1,"id":2}',
      '{"id":1,"id":1}',
      '{"method":"a","method":"b","id":1,"\\u0069d":2}'
    ]) {
      expect(readBody(text, limits).requests[0]?.idText).toBeUndefined()
    }
  })

  it('is found under an escaped name, and not in deeper members or strings', () => {
    expect(readBody('{"\\u0069d":7,"params":[{"id":8}],"x":"\\"id\\":9"}', limits).requests[0]?.idText).toBe(
      '7'
    )
  })

  it('is found for every request of a batch', () => {
    const text = '[{"id":1.0},7,{"a":[1,2,{"id":5}],"id":"b"},[{"id":3}],{}]'
    expect(readBody(text, limits).requests.map(({ idText }) => idText)).toEqual([
      '1.0',
      undefined,
      '"b"',
      undefined,
      '1'
    ])
  })
})

describe('a member given twice', () => {
  it.each([
    ['{"method":"a","method":"a"}', 'method'],
    ['{"params":[],"x":{"id":1},"p\\u0061rams":{}}', 'params'],
    ['{"jsonrpc":"2.0","id":1,"jsonrpc":"2.0"}', 'jsonrpc'],
    ['{"chainId":1,"chainId":1}', 'chainId'],
    ['{"id":1,"params":[{"id":1,"id":2}],"x":1,"x":2}', undefined],
    ['{"a":{"method":1},"b":{"method":2},"method":"m"}', undefined]
  ])('is told, if it means something: %s', (text, repeated) => {
    expect(readBody(text, limits).requests[0]?.repeated).toBe(repeated)
  })

  it('is told for the request of a batch that has it', () => {
    const text = '[{"method":"a"},{"method":"a"},{"id":1,"id":2},{"id":1}]'
    expect(readBody(text, limits).requests.map(({ repeated }) => repeated)).toEqual([
      undefined,
      undefined,
      'id',
      undefined
    ])
  })
})

describe('a body', () => {
  it('shows the ids and chain ids that the parser finds', () => {
    const request = fc.dictionary(
      fc.constantFrom('id', 'chainId', 'params', 'a"b', '\\'),
      fc.jsonValue({ maxDepth: 3 })
    )
    const gaps = fc.constantFrom(undefined, 1, '\t')
    const batch = fc.array(fc.oneof(request, fc.jsonValue({ maxDepth: 1 })), { minLength: 1 })
    fc.assert(
      fc.property(fc.oneof(request, batch), gaps, (value, gap) => {
        const text = JSON.stringify(value, null, gap)
        const parsed: unknown = JSON.parse(text)
        const { requests } = readBody(text, limits)
        for (const [index, entry] of (Array.isArray(parsed) ? parsed : [parsed]).entries()) {
          if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) continue
          const { id = 1, chainId } = entry as Record<string, unknown>
          const isText = typeof id === 'string' && id.length > 0
          const { idText = 'null', chainId: named } = requests[index] ?? {}
          expect(JSON.parse(idText)).toEqual(isText || Number.isSafeInteger(id) ? id : null)
          const isChain = Number.isSafeInteger(chainId) && Number(chainId) >= 0
          expect(named).toEqual(chainId === undefined ? undefined : isChain ? chainId : Number.NaN)
        }
      })
    )
  })

  it('is read or refused, whatever the text', () => {
    const readAny = (text: string) => {
      try {
        readBody(text, { jsonDepth: 3, batchEntries: 100 })
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal)
      }
    }
    fc.assert(fc.property(fc.string(), readAny))
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\1') }), readAny))
  })

  it.each([
    ['arrays', '['.repeat(65)],
    ['objects', '{"a":'.repeat(65)],
    ['both', `${'[{"a":'.repeat(33)}1${'}]'.repeat(33)}`],
    ['a bomb', '['.repeat(1_000_000)]
  ])('is measured in depth before a parser meets it: %s', (_what, text) => {
    expect(() => readBody(text, limits)).toThrow('deeper than 64 levels')
  })

  it('may have any number of brackets in strings', () => {
    const text = JSON.stringify({ a: '['.repeat(1000), b: '\\"[[[' })
    expect(readBody(text, { jsonDepth: 2, batchEntries: 1 }).requests).toHaveLength(1)
  })
})

describe('a number', () => {
  const read = (text: string) => {
    const [request] = readBody(`{"id":${text},"chainId":${text}}`, limits).requests
    return [request?.idText, request?.chainId]
  }

  it('is an id, and from 0 a chain id, in every spelling of a safe integer', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.nat(9), (integer, shift) => {
        const zeros = '0'.repeat(shift)
        // JSON has no number that begins with two zeros.
        const scaled = integer === 0 ? '0' : `${integer}${zeros}`
        for (const text of [`${integer}`, `${integer}.${zeros}0`, `${scaled}e-${shift}`]) {
          expect(read(text)).toEqual([text, integer < 0 ? Number.NaN : integer])
        }
      })
    )
  })

  it('is neither beyond, although a parser rounds it to one', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 2n ** 53n, max: 2n ** 70n }), beyond => {
        expect(read(String(beyond))).toEqual([undefined, Number.NaN])
        expect(read(String(-beyond))).toEqual([undefined, Number.NaN])
      })
    )
  })
})
