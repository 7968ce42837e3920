/**
 * Orders rows by their bytes; equal rows keep their order. Sorts numbers made of the first bits of a row and its row number,
 * which is many times quicker than comparing bytes; only rows with the same first bits are compared again.
 * @param start - where the bytes of a row begin.
 * @param length - how many there are, at least six.
 * @returns the rows, in order.
 */
export function orderByBytes(
  bytes: Uint8Array,
  count: number,
  start: (row: number) => number,
  length: (row: number) => number
): Uint32Array {
  const compare = (a: number, b: number) => {
    const [ofA, ofB] = [length(a), length(b)]
    return compareBytes(bytes, start(a), start(b), ofA < ofB ? ofA : ofB) || ofA - ofB
  }
  const rowBits = Math.max(1, Math.ceil(Math.log2(count)))
  const rows = 2 ** rowBits
  // A number has 53 bits: the row number takes its share, the first bits of the row the rest, at most 48.
  const dropped = 2 ** Math.max(0, 48 - (53 - rowBits))
  const keys = new Float64Array(count)
  for (let row = 0; row < count; row++) {
    const at = start(row)
    const upper = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    const lower = ((bytes[at + 3] ?? 0) << 16) | ((bytes[at + 4] ?? 0) << 8) | (bytes[at + 5] ?? 0)
    keys[row] = Math.floor((upper * 2 ** 24 + lower) / dropped) * rows + row
  }
  keys.sort()
  const order = new Uint32Array(count)
  let from = 0
  let prefix = -1
  /** Rows with the same first bits are nearly always equal, and then in order already. */
  let areSame = true
  for (let rank = 0; rank < count; rank++) {
    const key = keys[rank] ?? 0
    const ownPrefix = Math.floor(key / rows)
    const row = key - ownPrefix * rows
    order[rank] = row
    if (ownPrefix === prefix) {
      areSame &&= compare(order[from] ?? 0, row) === 0
      continue
    }
    if (!areSame) order.subarray(from, rank).sort((a, b) => compare(a, b) || a - b)
    from = rank
    prefix = ownPrefix
    areSame = true
  }
  if (!areSame) order.subarray(from).sort((a, b) => compare(a, b) || a - b)
  return order
}

/** Compares as many bytes from two offsets on. For a few bytes a loop is faster than a call of Buffer's. */
export function compareBytes(bytes: Uint8Array, a: number, b: number, length: number): number {
  for (let i = 0; i < length; i++) {
    const order = (bytes[a + i] ?? 0) - (bytes[b + i] ?? 0)
    if (order !== 0) return order
  }
  return 0
}
