import { scrubText } from './scrubText.ts'

/** Host and port of a URL: anything else in it may be a key. */
export function hostOf(url: string): string {
  return scrubText(url, 200).replace(/^[a-z]+:\/\//i, '')
}

/** Names by their hosts the nodes that a message only counts. @param hosts - in the order of `rpcUrls`. */
export function nameNodes(text: string, hosts: readonly string[] = []): string {
  return text.replace(/\bupstream (\d+)\b/g, (counted, position) => hosts[Number(position) - 1] ?? counted)
}
