import { describe, expect, it } from 'vitest'
import { parseVector } from './parseVector.ts'
import { placeVector } from './placeVector.ts'

const text = `// A case.
// POST /evm-chain?chainId=31337
// extension: pages
// > content-type:
// > x-a: b: c
// padded: 60
// < 415
// < allow: POST
>> {"method":"svc_a","chainId":31337,"x":"chainId 31337"}
<< {"id":31337}
`

describe('a vector', () => {
  it('is read line by line', () => {
    const { body, ...rest } = parseVector('a/b', text)
    expect(rest).toEqual({
      name: 'a/b',
      shows: 'A case.',
      verb: 'POST',
      target: '/evm-chain?chainId=31337',
      extension: 'pages',
      requestHeaders: { 'content-type': '', 'x-a': 'b: c' },
      status: 415,
      answerHeaders: { allow: 'POST' },
      answer: '{"id":31337}'
    })
    expect(body).toHaveLength(60)
  })

  it.each([
    ['without a request line', '// A case.\n>> {}\n<< {}\n'],
    ['with a line that means nothing', text.replace('// > x-a: b: c', '// x-a = b')],
    ['with two answers', `${text}<< {}\n`],
    ['with something else', `${text}hello\n`]
  ])('%s is none', (_what, wrong) => {
    expect(() => parseVector('a/b', wrong)).toThrow(/a\/b/)
  })

  it('is placed on a host with other chains and another prefix, as long as it was', () => {
    const placed = placeVector(parseVector('a/b', text), { methodPrefix: 'acme_', chainId: 8 })
    expect(placed.target).toBe('/evm-chain?chainId=8')
    expect(placed.body?.trimEnd()).toBe('{"method":"acme_a","chainId":8,"x":"chainId 31337"}')
    expect(placed.body).toHaveLength(60)
    expect(placed.answer).toBe('{"id":31337}')
  })
})
