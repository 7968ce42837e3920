import { authorization } from '../http/startService.ts'
import { type AnyExpectation, answered, call, failed, refused } from './AbuseCase.ts'
import { chunk, requestBytes } from './wire.ts'

/** A caller who does not finish what it began. */
export interface SlowCase {
  readonly name: string
  readonly bytes: string
  /** Sent again and again, until the connection is closed. */
  readonly drip?: string
  /** The caller's half of the connection is closed behind `bytes`. */
  readonly half?: true
  readonly expect: readonly AnyExpectation[]
}

const tooSlow = refused(408)
const open = (lines: readonly string[], length: string | null, body: string) =>
  requestBytes({ lines, length, body })
const chunked = 'Transfer-Encoding: chunked'
const head = requestBytes({ length: null, body: '' }).slice(0, -2)

/** Each of them would hold its connection for ever. */
export const slowCases: readonly SlowCase[] = [
  { name: 'a connection on which nothing comes', bytes: '', expect: [tooSlow] },
  { name: 'half a request line', bytes: 'POST /evm', expect: [tooSlow] },
  { name: 'line breaks and nothing else', bytes: '', drip: '\r\n', expect: [tooSlow] },
  { name: 'a target that comes letter by letter', bytes: 'POST /', drip: 'a', expect: [tooSlow] },
  { name: 'a header name that comes letter by letter', bytes: head, drip: 'a', expect: [tooSlow] },
  { name: 'a header value that comes letter by letter', bytes: `${head}X-A: `, drip: 'a', expect: [tooSlow] },
  { name: 'a head whose lines never end', bytes: head, drip: 'a: b\r\n', expect: [tooSlow] },
  { name: 'a body that stops', bytes: open([], '100', '{"jsonrpc":'), expect: [tooSlow] },
  { name: 'a body that never begins', bytes: open([], '100', ''), expect: [tooSlow] },
  { name: 'a body that comes letter by letter', bytes: open([], '100000', ''), drip: 'a', expect: [tooSlow] },
  {
    name: 'chunks that come letter by letter',
    bytes: open([chunked], null, ''),
    drip: chunk('a'),
    expect: [tooSlow]
  },
  {
    name: 'a chunk of unbelievable size',
    bytes: open([chunked], null, '7fffffffffffffff\r\n'),
    drip: 'a',
    expect: [tooSlow]
  },
  { name: 'a chunk size that stops', bytes: open([chunked], null, '1'), expect: [tooSlow] },
  {
    name: 'an extension of a chunk that never ends',
    bytes: open([chunked], null, '1;'),
    drip: 'a',
    expect: [tooSlow]
  },
  { name: 'chunks without the last one', bytes: open([chunked], null, chunk(call())), expect: [tooSlow] },
  {
    name: 'trailers that never end',
    bytes: open([chunked], null, `${chunk(call())}0\r\n`),
    drip: 'a: b\r\n',
    expect: [tooSlow]
  },
  {
    name: 'a second request that never ends',
    bytes: `${requestBytes({})}POST /evm-chain`,
    drip: 'a',
    expect: [answered(), tooSlow]
  },
  {
    name: 'a body that is asked for and never comes',
    bytes: open(['Expect: 100-continue'], '100', ''),
    expect: [tooSlow]
  },
  {
    name: 'a body that goes on after its refusal',
    bytes: open([], '100000', '').replace(authorization, 'none'),
    drip: 'a',
    expect: [refused(401, 'UNAUTHENTICATED')]
  },
  {
    name: 'a body too large that goes on after its refusal',
    bytes: open([], '99999999', ''),
    drip: 'a',
    expect: [refused(413, 'BODY_TOO_LARGE')]
  },
  {
    name: 'a half-closed connection in the middle of a head',
    bytes: 'POST /evm-chain HTTP/1.1\r\nHost',
    half: true,
    expect: [refused(400)]
  },
  {
    name: 'a half-closed connection in the middle of a body',
    bytes: open([], '100', '{'),
    half: true,
    expect: [refused(400)]
  },
  {
    name: 'a half-closed connection in the middle of a chunk',
    bytes: open([chunked], null, '10\r\n{'),
    half: true,
    expect: [refused(400)]
  },
  { name: 'a half-closed connection on which nothing came', bytes: '', half: true, expect: [] },
  {
    name: 'a half-closed connection behind an answer',
    bytes: requestBytes({ length: null, body: '' }),
    half: true,
    expect: [failed('PARSE_ERROR', 'null')]
  }
]
