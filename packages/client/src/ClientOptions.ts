import type { AbortSignalLike } from './AbortSignalLike.ts'

/** Who asks, with a key that must stay on servers. */
export interface ServerKeyCredentials {
  /** User name of HTTP Basic. Any text without a colon and control characters. */
  readonly projectId: string
  /** Password of HTTP Basic. A secret: it belongs on servers. Refused in a browser. */
  readonly serverKey: string
  /** Permits `serverKey` in a browser, where everyone who opens the page can read it. */
  readonly dangerouslyAllowBrowser?: boolean | undefined
  readonly clientKey?: undefined
  readonly auth?: undefined
}

/** Who asks, with a key that is made for pages. */
export interface ClientKeyCredentials {
  /** User name of HTTP Basic. Any text without a colon and control characters. */
  readonly projectId: string
  /** A publishable key; the host ties it to origins. */
  readonly clientKey: string
  readonly serverKey?: undefined
  readonly auth?: undefined
  /** Without meaning here: no server key is given. */
  readonly dangerouslyAllowBrowser?: boolean | undefined
}

/** Who asks, said by something else than a key. */
export interface OtherCredentials {
  /**
   * Gives the headers that sign a request, such as `{ Authorization: 'Bearer …' }`; asked before every attempt.
   * `false`: requests are not signed, for a proxy of your own that does it.
   */
  readonly auth: AuthProvider | false
  readonly projectId?: undefined
  readonly serverKey?: undefined
  readonly clientKey?: undefined
  /** Without meaning here: no server key is given. */
  readonly dangerouslyAllowBrowser?: boolean | undefined
}

/** Header values by header name. They are treated as secrets. */
export type AuthProvider = () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>

/** What 64-bit integers of Solana answers become. */
export type Int64Form = 'number' | 'string' | 'bigint'

/** The type behind an {@link Int64Form}. */
export type Int64Of<Form> = Form extends 'bigint' ? bigint : Form extends 'string' ? string : number

/** Where the service is, who asks, and what holds for every call that says nothing else. */
export type ClientOptions<Form extends Int64Form = Int64Form> = {
  /**
   * Address of the service, without `/evm-chain` or `/solana`; a path before those is kept. https, except on
   * loopback (`localhost`, `127.0.0.0/8`, `::1`) or with `allowInsecureHttp`. With `auth`, a page may also give
   * a path on its own origin, such as `/chain-data`.
   */
  readonly baseUrl: string
  /** The chain of every call that names none. With it, `chainId` becomes optional in the calls' types. */
  readonly chainId?: number | undefined
  /** What this host's method names begin with in place of `svc_`. */
  readonly methodPrefix?: string | undefined
  /** Milliseconds for a whole call, attempts and pauses included. Default 30 000; `Infinity` for none. */
  readonly timeoutMs?: number | undefined
  /** How often a call is sent again after a failure that may pass. Default 2. */
  readonly retries?: number | undefined
  /** Longest pause before an attempt. A server that asks for more is not asked again. Default 10 000. */
  readonly maxDelayMs?: number | undefined
  /** Decoded bytes after which an answer is cut off with an error. Default 64 MiB. */
  readonly maxResponseBytes?: number | undefined
  /** Permits plain http to a host that is not loopback, where anyone on the way can read the key. */
  readonly allowInsecureHttp?: boolean | undefined
  /**
   * What `lamports` and `amount` on Solana become: `'number'` as in the document (default; rounded above 2^53,
   * with exact texts beside them), or exactly a `'string'` of digits or a `'bigint'`.
   */
  readonly int64?: Form | undefined
} & (ServerKeyCredentials | ClientKeyCredentials | OtherCredentials)

/** What every call takes besides its own arguments. */
export interface CallOptions {
  /** Ends the call at once with `code: 'ABORTED'`. Any `AbortSignal` fits. */
  readonly signal?: AbortSignalLike | undefined
  /** Milliseconds for this call, instead of the client's. */
  readonly timeoutMs?: number | undefined
  /** Attempts after the first for this call, instead of the client's. */
  readonly retries?: number | undefined
  /** Gets the whole answer behind the result, before the promise resolves. What it throws, the call rejects with. */
  readonly onAnswer?: ((answer: Answer) => void) | undefined
}

/** The HTTP answer behind a result. */
export interface Answer {
  /** HTTP status. */
  readonly status: number
  /** The `x-request-id` header; absent where the host sends none, or hides it from pages. */
  readonly requestId?: string
  /** How many requests it took, this one included. */
  readonly attempts: number
  /** The body as it arrived, every digit of it. */
  readonly text: string
  /**
   * A header of the answer, by its name in lower case; nothing where it is missing, or hidden from pages. `parseCoverage`
   * reads `x-chain-data-coverage`.
   */
  readonly header: (name: string) => string | null | undefined
}
