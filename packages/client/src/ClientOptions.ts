import type { AbortSignalLike } from './withDeadline.ts'

/** Where the service is, who asks, and what holds for every call that says nothing else. */
export interface ClientOptions {
  /**
   * Address of the service, without `/evm-chain` or `/solana`; a path before those is kept. https, except on
   * loopback (`localhost`, `127.0.0.0/8`, `::1`) or with `allowInsecureHttp`.
   */
  readonly baseUrl: string
  /** User name of HTTP Basic. Any text without a colon and control characters. */
  readonly projectId: string
  /** Password of HTTP Basic. A secret: it belongs on servers, not in a page. */
  readonly serverKey: string
  /** The chain of every call that names none. With it, `chainId` becomes optional in the calls' types. */
  readonly chainId?: number | undefined
  /** What this host's method names begin with in place of `svc_`. */
  readonly methodPrefix?: string | undefined
  /** Milliseconds for a whole call, from connecting to the last byte. Default 30 000; `Infinity` for none. */
  readonly timeoutMs?: number | undefined
  /** Decoded bytes after which an answer is cut off with an error. Default 64 MiB. */
  readonly maxResponseBytes?: number | undefined
  /** Permits plain http to a host that is not loopback, where anyone on the way can read the key. */
  readonly allowInsecureHttp?: boolean | undefined
}

/** What every call takes besides its own arguments. */
export interface CallOptions {
  /** Ends the call at once with `code: 'ABORTED'`. Any `AbortSignal` fits. */
  readonly signal?: AbortSignalLike | undefined
  /** Milliseconds for this call, instead of the client's. */
  readonly timeoutMs?: number | undefined
}
