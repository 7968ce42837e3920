/** `1 token`, `2 tokens`. */
export function plural(count: number | bigint, noun: string): string {
  return `${count} ${noun}${Number(count) === 1 ? '' : 's'}`
}
