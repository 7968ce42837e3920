import type { EndpointPath } from '@chain-data/protocol'

/** What the transport knows of a call. */
export interface CallOrigin {
  readonly endpoint: EndpointPath
  /** Text of `?chainId=`; absent when the URL has none. */
  readonly urlChainId?: string | undefined
  readonly requestId: string
  readonly projectId: string
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal
}
