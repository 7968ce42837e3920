import type { Int64Form } from './ClientOptions.ts'
import { ProtocolError } from './errors.ts'

type Members = Record<string, unknown>

/**
 * Gives the 64-bit integers of a result the form that the caller asked for; the rest stays as it came.
 *
 * @param method - Name in the document; results of other methods are passed on.
 * @param plain - The result as `JSON.parse` reads it; changed in place.
 * @param exact - The same with its long integers as texts.
 * @throws {ProtocolError} `INEXACT_NUMBER`: digits were asked for, and what came is no whole number.
 */
export function shapeResult(method: string, plain: unknown, exact: unknown, form: Int64Form): unknown {
  if (method === 'svc_getTransactionsByAddress') {
    for (const [record, source] of pairs(plain, exact)) {
      for (const name of ['gasLimit', 'nonce']) {
        const digits = digitsOf(source[name])
        if (digits === undefined) continue
        record[name] = Number(digits)
        if (!Number.isSafeInteger(record[name])) record[`${name}String`] = digits
      }
    }
  }
  if (method === 'enhancedGetTokensAndNFTs') {
    for (const [holdings, source] of pairs([plain], [exact])) {
      shapeInt64(holdings, source, 'lamports', form)
      for (const [token, itsSource] of pairs(holdings.tokens, source.tokens)) {
        shapeInt64(token, itsSource, 'amount', form)
      }
    }
  }
  return plain
}

function shapeInt64(target: Members, source: Members, name: string, form: Int64Form): void {
  const twin = `${name}String`
  // The text of the host comes first: its number may have been rounded before it was sent.
  const digits = digitsOf(source[twin]) ?? digitsOf(source[name])
  if (digits !== undefined) {
    target[name] = form === 'bigint' ? BigInt(digits) : form === 'string' ? digits : Number(digits)
    target[twin] = digits
  } else if (form !== 'number') {
    throw new ProtocolError('INEXACT_NUMBER', `${name} is no whole number whose digits are all there`)
  }
}

/** Decimal digits of a whole number that is exact: a safe number, decimal digits, or 0x-hex. */
function digitsOf(value: unknown): string | undefined {
  if (Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'string' || !/^(0x[\da-f]+|-?\d+)$/i.test(value)) return undefined
  return BigInt(value).toString()
}

/** The objects at the same places of two lists; none for what is no list. */
function* pairs(plain: unknown, exact: unknown): Generator<[Members, Members]> {
  if (!Array.isArray(plain)) return
  for (const [index, item] of plain.entries()) {
    if (typeof item === 'object' && item) yield [item, (exact as Members[])[index] as Members]
  }
}
