import type { JsonObject } from './readJsonObject.ts'

/** What a member or element takes in memory beside its text, about; an empty object takes 56. */
const valueBytes = 48

/**
 * About how much memory a document takes, in bytes. Its text alone says little: 2 MiB of `{},{},{}` become 40 MB.
 * @param textBytes - the length of its text.
 * @remarks As deep as the object is nested; `readJsonObject` has a bound on that.
 */
export function weighObject(data: JsonObject, textBytes: number): number {
  return textBytes + valueBytes * countValues(data)
}

function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  if (Array.isArray(value)) for (const item of value) count += countValues(item)
  else for (const key in value) count += countValues((value as Record<string, unknown>)[key])
  return count
}
