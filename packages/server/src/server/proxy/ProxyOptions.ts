import type { IncomingMessage } from 'node:http'
import type { MethodName } from '@chain-data/protocol'

/** The request as the host got it: from `fetch` or from node:http. */
export type HostRequest = Request | IncomingMessage

/** Options of a proxy. */
export interface ProxyOptions {
  /**
   * Address of the service, without `/evm-chain` or `/solana`; a path before those is kept. https, except on loopback
   * (`localhost`, `127.0.0.0/8`, `::1`) or with `allowInsecureHttp`.
   */
  readonly target: string
  /** User name of HTTP Basic that the service knows this host by. */
  readonly projectId: string
  /** Password of HTTP Basic, or `clientKey` in its place. It stays on the host: no answer and no error holds it. */
  readonly serverKey?: string | undefined
  /**
   * A publishable key. The service then counts each visitor by address, which takes this host among its
   * `listen.trustedProxies`, and gets the page's `Origin`, which has to be on the list of the key.
   */
  readonly clientKey?: string | undefined
  /** Permits plain http to a host that is not loopback, where anyone on the way can read the key. Default false. */
  readonly allowInsecureHttp?: boolean
  /**
   * Path below which the proxy is, such as `/api/chain-data`, where the host hands on requests with the path as it
   * was sent. Default `''`, also for hosts that take the path off (`use` of Express, `mount` of Hono).
   */
  readonly basePath?: string
  /**
   * Methods that pages may call, by the document's names. Default: the three methods, `svc_watchAddresses` and `svc_getSyncStatus`. For everything
   * else the answer is METHOD_NOT_FOUND, and the service does not see it. `svc_verifyHistory` has to be named: one call of
   * it is many at the node.
   */
  readonly methods?: readonly MethodName[]
  /** Prefix of the service's method names, in place of `svc_`. */
  readonly methodPrefix?: string
  /**
   * Origins of the host's own pages, such as `https://app.example`. Needed only for browsers that do not send
   * `Sec-Fetch-Site`, where something in front of the host changes the `Host` header, and for pages of a sister host.
   */
  readonly origins?: readonly string[]
  /**
   * Names by which this host is reached, such as `app.example` or `10.0.0.5:3000`; without a port, at every port.
   * Requests that name another one in `Host` get FORBIDDEN_ORIGIN. For a host in a private network or on loopback: a
   * stranger's page reaches it in a visitor's browser by pointing a name of its own at it (DNS rebinding). Default: any.
   */
  readonly hosts?: readonly string[]
  /**
   * Decides who may call, by the host's own session. Anything but `true` answers 401, except a `Response`: its status,
   * headers (of cookies the last) and body are the answer. Asked after the origin and before the body is read.
   * Default: everybody on the host's own pages.
   */
  readonly authorize?: (request: HostRequest) => boolean | Response | Promise<boolean | Response>
  /**
   * The caller's IP address, which the service gets as `X-Forwarded-For`; what is no address is not sent. Default: who
   * holds the other end of the connection, with Fetch as far as the host reports it (`fetch(request, { address })`). A
   * host behind a proxy of its own reads that one's header here.
   */
  readonly clientAddress?: (request: HostRequest) => string | undefined
  /** Largest request body. Default 1 MiB. */
  readonly bodyBytes?: number
  /** Requests at the service at the same time; more are refused with 503. Default 256. */
  readonly requestsInFlight?: number
  /** Streams of events open at the same time, apart from requests; more are refused with 503. Default 1 000. */
  readonly streams?: number
  /** Milliseconds until a connection stands. Default 5 000. */
  readonly connectTimeoutMs?: number
  /** Milliseconds until an answer begins; longer than the service's own deadline. Default 30 000. */
  readonly answerTimeoutMs?: number
  /** Milliseconds in which nothing moves, from the service or to the page, until an answer is cut. Default 30 000. */
  readonly idleTimeoutMs?: number
  /**
   * Called with a text for the operator of the host, such as a service that is away or refuses the key. The text holds
   * no key and no address.
   */
  readonly onProblem?: (message: string) => void
}
