import { protocolError } from './errors.ts'

type Members = Record<string, unknown>

/** How digits become what `int64` asks for. */
export const int64Forms = { number: Number, string: String, bigint: BigInt }

type FromDigits = (typeof int64Forms)[keyof typeof int64Forms]

/**
 * Gives the 64-bit integers of a result the form that the caller asked for; the rest stays as it came.
 *
 * @param method - Name in the document; results of other methods are passed on.
 * @param plain - The result as `JSON.parse` reads it; changed in place.
 * @param exact - The same with its long integers as texts.
 * @throws {ProtocolError} `INEXACT_NUMBER`: digits were asked for, and what came is no whole number.
 */
export function shapeResult(method: string, plain: unknown, exact: unknown, form: FromDigits): unknown {
  if (method === 'svc_getTransactionsByAddress') {
    shapeEach(plain, exact, 'gasLimit')
    shapeEach(plain, exact, 'nonce')
  }
  if (method === 'enhancedGetTokensAndNFTs') {
    shapeEach([plain], [exact], 'lamports', form)
    shapeEach((Object(plain) as Members).tokens, (Object(exact) as Members).tokens, 'amount', form)
  }
  if (method === 'svc_verifyHistory') {
    // Amounts of a certificate are decimal digits in texts, and exact as they are. In words, digits are words.
    return JSON.parse(JSON.stringify(plain), (name, value) =>
      name !== 'message' && typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : value
    )
  }
  return plain
}

/** @param form - Absent: a number, with a text beside it only where it is rounded. */
function shapeEach(list: unknown, sources: unknown, name: string, form?: FromDigits): void {
  if (!Array.isArray(list)) return
  list.forEach((item: Members, index) => {
    if (item !== Object(item)) return
    const source = (sources as Members[])[index] as Members
    const twin = `${name}String`
    // The text of the host comes first: its number may have been rounded before it was sent.
    const digits = digitsOf(source[twin]) ?? digitsOf(source[name])
    if (digits) {
      item[name] = (form ?? Number)(digits)
      if (form || !Number.isSafeInteger(item[name])) item[twin] = digits
    } else if (form && form !== Number) throw protocolError('INEXACT_NUMBER', name)
  })
}

/** Decimal digits of a whole number that is exact: a safe number, decimal digits, or 0x-hex. */
function digitsOf(value: unknown): string | undefined {
  const isExact =
    Number.isSafeInteger(value) || (typeof value === 'string' && /^(0x[\da-f]+|-?\d+)$/i.test(value))
  return isExact ? `${BigInt(value as string)}` : undefined
}
