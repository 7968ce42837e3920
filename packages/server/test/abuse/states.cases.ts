import { authorization, type ServiceChanges, type StartedService } from '../http/startService.ts'
import { type AnyExpectation, answered, call, refused } from './AbuseCase.ts'
import { requestBytes } from './wire.ts'

/** A caller who goes on when it was told to wait, and servers that have enough. */
export interface StateCase {
  readonly name: string
  readonly changes?: ServiceChanges
  /** Brings the server into the state. */
  readonly prepare?: (service: StartedService) => void
  /** Sent one after another, each on a connection of its own. */
  readonly requests: readonly string[]
  /** Of each of them. */
  readonly expect: readonly AnyExpectation[]
  /** Sent in answer to a refusal that says how long to wait. */
  readonly waits?: true
}

const good = requestBytes({ lines: ['Connection: close'] })
const guess = good.replace(authorization, `Basic ${btoa('demo:wrong')}`)
const page = good.replace(
  authorization,
  `Basic ${btoa('demo:demo-client-key')}\r\nOrigin: https://dapp.example`
)
const used = refused(429, 'RATE_LIMITED')
const overloaded = refused(503, 'OVERLOADED')
const once = { requestsPerSecond: 0.001, burst: 1 }
const login = { attempts: 2, windowMs: 60_000 }
const wrong = refused(401, 'UNAUTHENTICATED')

/** Each of them has a server of its own. */
export const stateCases: readonly StateCase[] = [
  {
    name: 'a call beyond the quota',
    changes: { rateLimit: once },
    requests: [good, good, good],
    expect: [answered(), used, used],
    waits: true
  },
  {
    name: 'nonsense beyond the quota',
    changes: { rateLimit: once },
    requests: [
      requestBytes({ body: '{', lines: ['Connection: close'] }),
      requestBytes({ body: '{', lines: ['Connection: close'] })
    ],
    expect: [{ status: 200, reason: 'PARSE_ERROR', id: 'null' }, used],
    waits: true
  },
  {
    name: 'a batch beyond the quota',
    changes: { rateLimit: once },
    requests: [requestBytes({ body: `[${call()},${call({ id: '6' })}]`, lines: ['Connection: close'] })],
    expect: [{ status: 200, entries: [answered(), { status: 200, reason: 'RATE_LIMITED', id: '6' }] }]
  },
  {
    name: 'a web page beyond the quota of client keys, and a server within its own',
    changes: { rateLimit: { ...once, burst: 4 } },
    requests: [page, page, good],
    expect: [answered(), used, answered()],
    waits: true
  },
  {
    name: 'guesses of a key, and the right key behind them',
    changes: { login },
    requests: [guess, guess, guess, good],
    expect: [wrong, wrong, used, used],
    waits: true
  },
  {
    name: 'guesses of a key from another address by its own account',
    changes: { login },
    requests: Array.from({ length: 3 }, (_, at) =>
      guess.replace('Host', `X-Forwarded-For: 192.0.2.${at}\r\nHost`)
    ),
    expect: [wrong, wrong, used],
    waits: true
  },
  {
    name: 'a call to a server that has no room',
    changes: { limits: { requestsInFlight: 0 } },
    requests: [good],
    expect: [overloaded],
    waits: true
  },
  {
    // Who asks is known before anything waits, so that the heaviest caller can be refused first.
    name: 'a guess of a key at a server that has no room',
    changes: { limits: { requestsInFlight: 0 } },
    requests: [guess],
    expect: [wrong]
  },
  {
    name: 'a call to a server that is closing',
    prepare: service => service.beginClosing(),
    requests: [good],
    expect: [overloaded],
    waits: true
  },
  {
    name: 'a target below the path of the service',
    changes: { basePath: '/api' },
    requests: ['/evm-chain', '/api/../evm-chain', '/api//evm-chain', '/apix/evm-chain', '/api/evm-chain'].map(
      target => requestBytes({ target, lines: ['Connection: close'] })
    ),
    expect: [...Array(4).fill(refused(404, 'NOT_FOUND')), answered()]
  }
]
