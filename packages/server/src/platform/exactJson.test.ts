import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exactJson } from './exactJson.ts'

const bigints = fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n })

describe('exactJson', () => {
  it('writes what JSON.stringify writes where there is no bigint', () => {
    fc.assert(
      fc.property(fc.anything({ withDate: true, withNullPrototype: true }), value => {
        const text = JSON.stringify(value)
        fc.pre(text !== undefined)
        expect(exactJson(value)).toBe(text)
      })
    )
  })

  it('writes the same beside a bigint as without one', () => {
    fc.assert(
      fc.property(fc.anything({ withDate: true }), bigints, (value, number) => {
        const expected = JSON.stringify([value]).slice(1, -1)
        expect(exactJson([value, number])).toBe(`[${expected},${number}]`)
      })
    )
  })

  it('writes every digit of a bigint, wherever it is', () => {
    fc.assert(
      fc.property(bigints, number => {
        expect(exactJson(number)).toBe(String(number))
        expect(exactJson({ a: [{ b: number, c: undefined }] })).toBe(`{"a":[{"b":${number}}]}`)
      })
    )
  })

  it.each([
    ['nothing', undefined],
    ['a function', () => 1]
  ])('refuses %s, which has no JSON form', (_what, value) => {
    expect(() => exactJson(value)).toThrow(TypeError)
  })

  it('refuses a circle instead of running out of stack', () => {
    const circle: unknown[] = [1n]
    circle.push(circle)
    expect(() => exactJson(circle)).toThrow('nested too deep')
  })
})
