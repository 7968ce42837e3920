import type { Int64Form } from './ClientOptions.ts'
import type { Method, Reading } from './Method.ts'

type Members = Record<string, unknown>

const forms = { number: Number, string: String, bigint: BigInt }

/**
 * Gives the 64-bit integers of a result the form that the caller asked for; the rest stays as it came.
 *
 * @throws {ProtocolError} `INEXACT_NUMBER`: digits were asked for, and what came is no whole number.
 */
export function readIntegers(
  { int64 = [], rounded = [] }: Method,
  result: unknown,
  { form, readExact, fail }: Reading
): unknown {
  const shape = (source: unknown, onInexact?: Reading['fail']) =>
    int64.every(path => shapeMember(result, source, path.split('.'), form, onInexact)) &&
    rounded.every(path => shapeMember(result, source, path.split('.'), undefined, onInexact))
  // Only a number that may have been rounded is worth reading the text a second time.
  if (!shape(result)) shape(readExact(), fail)
  return result
}

/**
 * @param source - Where the digits are: the value itself, or its exact reading.
 * @param form - Absent: a number, with a text beside it only where it is rounded.
 * @param onInexact - Given with an exact `source`: what to do where even that holds no whole number.
 * @returns False where a number is not safe, and `source` may lack digits.
 */
function shapeMember(
  value: unknown,
  source: unknown,
  path: readonly string[],
  form: Int64Form | undefined,
  onInexact: Reading['fail'] | undefined
): boolean {
  if (Array.isArray(value)) {
    return value.every((item, index) =>
      shapeMember(item, (source as unknown[])[index], path, form, onInexact)
    )
  }
  if (value !== Object(value)) return true
  const [name = '', ...rest] = path
  const item = value as Members
  if (rest.length) return shapeMember(item[name], (source as Members)[name], rest, form, onInexact)
  const twin = `${name}String`
  const { [name]: given, [twin]: text } = source as Members
  if (!form && text === undefined && Number.isSafeInteger(given)) return true
  // The text of the host comes first: its number may have been rounded before it was sent.
  const digits = digitsOf(text) ?? digitsOf(given)
  if (digits) {
    item[name] = forms[form ?? 'number'](digits)
    if (form || !Number.isSafeInteger(item[name])) item[twin] = digits
  } else if (!onInexact) return false
  else if (form && form !== 'number') onInexact('INEXACT_NUMBER')
  return true
}

/** Decimal digits of a whole number that is exact: a safe number, decimal digits, or 0x-hex. */
function digitsOf(value: unknown): string | undefined {
  const isExact =
    Number.isSafeInteger(value) || (typeof value === 'string' && /^(0x[\da-f]+|-?\d+)$/i.test(value))
  return isExact ? `${BigInt(value as string)}` : undefined
}
