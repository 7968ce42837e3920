import { readExactJson } from './exactJson.ts'
import type { Method, Reading } from './Method.ts'

const forms = { number: Number, string: String, bigint: BigInt }

/**
 * Gives the 64-bit integers of a result the form that the caller asked for; the rest stays as it came.
 *
 * @throws {ProtocolError} `INEXACT_NUMBER`: digits were asked for, and what came is no whole number.
 */
export function readIntegers(
  { int64 = [], rounded = [] }: Method,
  result: unknown,
  { form, answer, resultIn, fail }: Reading
): unknown {
  /**
   * @param source - Where the digits are: the result itself, or its exact reading.
   * @returns False where a number is not safe, and the result itself may lack digits.
   */
  const shape = (source: unknown): boolean =>
    [...int64, ...rounded].every(path => {
      const keys = path.split('.')
      const name = `${keys.pop()}`
      const twin = `${name}String`
      // Without a form: a number, with a text beside it only where it is rounded.
      const into = int64.includes(path) ? form : undefined
      const visit = (value: Members, from: Members, depth: number): boolean => {
        if (Array.isArray(value)) {
          return value.every((item, index) =>
            visit(item, (from as unknown as Members[])[index] as Members, depth)
          )
        }
        if (value !== Object(value)) return true
        const key = keys[depth]
        if (key) return visit(value[key] as Members, from[key] as Members, depth + 1)
        const { [name]: given, [twin]: text } = from
        if (!into && text === undefined && Number.isSafeInteger(given)) return true
        // The text of the host comes first: its number may have been rounded before it was sent.
        const digits = digitsOf(text) ?? digitsOf(given)
        if (digits) {
          value[name] = forms[into ?? 'number'](digits)
          if (into || !Number.isSafeInteger(value[name])) value[twin] = digits
        } else if (source === result) return false
        else if (into && into !== 'number') fail('INEXACT_NUMBER')
        return true
      }
      return visit(result as Members, source as Members, 0)
    })
  // Only a number that may have been rounded is worth reading the text a second time.
  if (!shape(result)) {
    answer.exact ??= readExactJson(answer.text)
    shape(resultIn(answer.exact))
  }
  return result
}

type Members = Record<string, unknown>

/** Decimal digits of a whole number that is exact: a safe number, decimal digits, or 0x-hex. */
function digitsOf(value: unknown): string | undefined {
  const isExact =
    Number.isSafeInteger(value) || (typeof value === 'string' && /^(0x[\da-f]+|-?\d+)$/i.test(value))
  return isExact ? `${BigInt(value as string)}` : undefined
}
