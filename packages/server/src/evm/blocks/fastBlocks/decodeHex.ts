import { decline } from './decline.ts'

/** Value of each hex digit, in either case, by its byte; negative for all others. */
export const digitValues = Int8Array.from({ length: 256 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase())
)

/**
 * Writes the bytes that a text of hex digits stands for.
 * @param from - place of the first digit in `text`.
 * @param count - of bytes, two digits each.
 */
export function decodeHex(
  text: Uint8Array,
  from: number,
  count: number,
  target: Uint8Array,
  at: number
): void {
  let all = 0
  for (let i = 0; i < count; i++) {
    const upper = digitValues[text[from + 2 * i] ?? 0] ?? -1
    const lower = digitValues[text[from + 2 * i + 1] ?? 0] ?? -1
    all |= upper | lower
    target[at + i] = (upper << 4) | lower
  }
  if (all < 0) decline()
}

/** Whether two stretches of bytes are the same. */
export function sameBytes(
  a: Uint8Array,
  aFrom: number,
  b: Uint8Array,
  bFrom: number,
  count: number
): boolean {
  for (let i = 0; i < count; i++) if (a[aFrom + i] !== b[bFrom + i]) return false
  return true
}
