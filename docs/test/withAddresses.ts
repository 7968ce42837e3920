/** Where the service and its EVM node really listen. */
export interface Addresses {
  readonly baseUrl: string
  readonly nodeUrl: string
}

/** A text of a page with these addresses in place of the usual ones. */
export function withAddresses(text: string, { baseUrl, nodeUrl }: Addresses): string {
  return text
    .replace(/http:\/\/(127\.0\.0\.1|localhost):8080/g, baseUrl)
    .replace(/http:\/\/(127\.0\.0\.1|localhost):8545/g, nodeUrl)
}

/** What was printed, with the usual addresses in place of these. */
export function withoutAddresses(text: string, { baseUrl, nodeUrl }: Addresses): string {
  return text.replaceAll(baseUrl, 'http://127.0.0.1:8080').replaceAll(nodeUrl, 'http://127.0.0.1:8545')
}
