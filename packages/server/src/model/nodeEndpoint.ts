/** Where a node is reached, as `rpcUrls` names it: a URL, or a URL with limits and headers of its own. */
export type NodeEndpoint =
  | string
  | {
      /** http or https. */
      readonly url: string
      /** Most JSON-RPC calls in a second, each call of a batch counted; absent: as many as it takes. */
      readonly maxRequestsPerSecond?: number | undefined
      /** Most HTTP requests at the same time; absent: as many as it takes. */
      readonly maxConcurrency?: number | undefined
      /** Sent with every request. Their values are never shown. */
      readonly headers?: Readonly<Record<string, string>> | undefined
    }

export function urlOf(endpoint: NodeEndpoint): string {
  return typeof endpoint === 'string' ? endpoint : endpoint.url
}
