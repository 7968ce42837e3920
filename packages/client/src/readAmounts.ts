import type { Method } from './Method.ts'

/** Gives the amounts of a result, which are decimal digits on the wire, as `bigint`. They are exact in any case. */
export function readAmounts({ texts = [] }: Method, result: unknown): unknown {
  return JSON.parse(JSON.stringify(result), (name, value) =>
    typeof value === 'string' && !texts.includes(name) && /^-?\d+$/.test(value) ? BigInt(value) : value
  )
}
