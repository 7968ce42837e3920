/** `1 token`, `2 tokens`, `1,000 tokens`. */
export function plural(count: number | bigint | string, noun: string): string {
  return `${count} ${noun}${Number(count) === 1 ? '' : 's'}`
}
