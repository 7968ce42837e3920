import { answered, type CallCase, call, refused, type WireCase } from './AbuseCase.ts'
import { wire } from './wire.ts'

const nowhere = refused(404, 'NOT_FOUND')
const wrongVerb = refused(405, 'METHOD_NOT_ALLOWED')
const broken = refused(400)

/** Paths and verbs that every HTTP library can send. */
export const verbCases: readonly CallCase[] = [
  ...['/evm', '/evm-chain/x', '/EVM-CHAIN', '/evm-chain//', '/evm_chain', '/solana%2F', '/%65vm-chain'].map(
    target => ({
      name: `the path ${target}`,
      target,
      body: call(),
      expect: nowhere
    })
  ),
  ...['/__proto__', '/constructor', '/evm-chain;jsessionid=1', '/evm-chain%00', '/evm-chain%20', '/.env'].map(
    target => ({ name: `the path ${target}`, target, body: call(), expect: nowhere })
  ),
  ...['GET', 'PUT', 'PATCH', 'DELETE', 'PROPFIND'].map(verb => ({
    name: `the verb ${verb}`,
    verb,
    body: '',
    expect: wrongVerb
  })),
  { name: 'the verb HEAD', verb: 'HEAD', body: '', expect: { status: 405, empty: true } },
  { name: 'the verb OPTIONS', verb: 'OPTIONS', body: '', expect: { status: 204, empty: true } },
  { name: 'a POST to the health page', target: '/health/live', body: call(), expect: wrongVerb },
  { name: 'a DELETE of the metrics', target: '/metrics', verb: 'DELETE', body: '', expect: wrongVerb },
  { name: 'a POST to the health page below itself', target: '/health/live/x', body: call(), expect: nowhere }
]

/** Request targets and request lines, as only a socket can send them. */
export const targetCases: readonly WireCase[] = [
  ...[
    '/x/../evm-chain',
    '/x/%2e%2e/evm-chain',
    '/./evm-chain',
    '/evm-chain/.',
    '/evm-chain/..;/metrics',
    '//evm-chain',
    '//x/evm-chain',
    '/evm-chain%2f',
    '/evm-chain%23',
    '/evm-chain%3fchainId=1',
    '/\\evm-chain',
    '\\evm-chain',
    '/evm-chain\\',
    '/*',
    '/%',
    '/%zz',
    'ftp://x/evm-chain',
    'file:///etc/passwd'
  ].map(target => wire(`the target ${target}`, { target }, target.startsWith('\\') ? [broken] : [nowhere])),
  wire('the target http://x/../evm-chain', { target: 'http://x/../evm-chain' }, [nowhere]),
  wire('an absolute target', { target: 'http://elsewhere:1/evm-chain' }, [answered()]),
  wire('an absolute target in upper case', { target: 'HTTP://X/evm-chain' }, [answered()]),
  wire('an absolute target without a path', { target: 'http://x' }, [wrongVerb]),
  wire('an absolute target without a host', { target: 'http:///evm-chain' }, [broken]),
  wire('an absolute target with a query for a host', { target: 'http://?/evm-chain' }, [broken]),
  wire('an absolute target with credentials', { target: 'http://demo:demo-server-key@x/evm-chain' }, [
    broken
  ]),
  wire('an absolute target with a name and no password', { target: 'http://demo@x/evm-chain' }, [broken]),
  wire('a target with a fragment', { target: '/evm-chain#x' }, [broken]),
  wire('a target with a fragment that hides a path', { target: '/evm-chain#/../metrics' }, [broken]),
  wire('a target with a fragment behind a query', { target: '/evm-chain?chainId=1#x' }, [broken]),
  wire('a target that is a host and port', { target: 'x:443' }, [broken]),
  wire('a target that is a star', { target: '*', verb: 'OPTIONS', body: '' }, [nowhere]),
  wire('a star for a call', { target: '*' }, [nowhere]),
  wire('a target without a slash', { target: 'evm-chain' }, [broken]),
  wire('an empty target', { line: 'POST  HTTP/1.1' }, [broken]),
  wire('a target with a space', { target: '/evm-chain x' }, [broken]),
  wire('a target with a tab', { target: '/evm-chain\tx' }, [broken]),
  wire('a target with a NUL', { target: '/evm\0chain' }, [broken]),
  wire('a target with a bare CR', { target: '/evm\rchain' }, [broken]),
  wire('a target in Latin-1', { target: '/\xe9vm-chain' }, [broken]),
  wire('a target longer than a head may be', { target: `/${'a'.repeat(17_000)}` }, [refused(431)]),
  wire('a target of 10,000 characters', { target: `/${'a'.repeat(10_000)}` }, [nowhere]),
  wire('a query of 10,000 members', { target: `/evm-chain?${'a&'.repeat(5_000)}` }, [answered()]),

  wire('a tunnel', { line: 'CONNECT x:443 HTTP/1.1', body: '' }, [wrongVerb], false),
  wire('a tunnel to an endpoint', { line: 'CONNECT /evm-chain HTTP/1.1', body: '' }, [wrongVerb], false),
  wire('the verb TRACE', { verb: 'TRACE', body: '' }, [wrongVerb]),
  wire('the verb QUERY', { verb: 'QUERY' }, [wrongVerb]),
  wire('a verb in lower case', { verb: 'post' }, [broken]),
  wire('a verb that does not exist', { verb: 'FETCH' }, [broken]),
  wire('a verb of 10,000 characters', { verb: 'P'.repeat(10_000) }, [broken]),
  wire('a line break before the request', { line: '\r\nPOST /evm-chain HTTP/1.1' }, [answered()]),
  wire('a space before the request', { line: ' POST /evm-chain HTTP/1.1' }, [broken]),
  wire('a tab between verb and target', { line: 'POST\t/evm-chain HTTP/1.1' }, [broken]),
  wire('a version of HTTP/1.2', { line: 'POST /evm-chain HTTP/1.2' }, [broken]),
  wire('a version of HTTP/1.10', { line: 'POST /evm-chain HTTP/1.10' }, [broken]),
  wire('a version of HTTP/2.0', { line: 'POST /evm-chain HTTP/2.0' }, [refused(505)]),
  wire('a version of HTTP/0.9', { line: 'GET /health/live HTTP/0.9', body: '' }, [refused(505)]),
  wire('a version in lower case', { line: 'POST /evm-chain http/1.1' }, [broken]),
  wire('a line without a version', { line: 'GET /evm-chain', body: '' }, [refused(505)]),
  wire('a line with something behind the version', { line: 'POST /evm-chain HTTP/1.1 x' }, [broken]),
  { name: 'the preface of HTTP/2', bytes: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', expect: [broken], kept: false },
  {
    name: 'a greeting of TLS',
    bytes: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    expect: [broken],
    kept: false
  },
  {
    name: 'a header of a proxy protocol',
    bytes: 'PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n',
    expect: [broken],
    kept: false
  },
  { name: 'a greeting of SSH', bytes: 'SSH-2.0-x\r\n', expect: [broken], kept: false },
  { name: 'a command of a mail client', bytes: 'EHLO x\r\n', expect: [broken], kept: false },
  { name: 'a command of Redis', bytes: '*1\r\n$4\r\nPING\r\n', expect: [broken], kept: false },
  { name: 'a hundred NULs', bytes: '\0'.repeat(100), expect: [broken], kept: false }
]
