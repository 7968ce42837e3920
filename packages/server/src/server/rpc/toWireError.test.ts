import { IndexDamagedError, StoreError, StoreUnavailableError } from '@chain-data/index'
import { toPostgresError, toSqliteError } from '@chain-data/index/test'
import pg from 'pg'
import { expect, it } from 'vitest'
import {
  ConfigError,
  NodeContradictionError,
  NodeRpcError,
  NodeUnavailableError
} from '../../platform/errors.ts'
import { silentLogger } from '../../platform/logger.ts'
import { toWireError } from './toWireError.ts'

const call = { requestId: 'r-1', logger: silentLogger }

const openFiles = Object.assign(new Error('EMFILE: too many open files, open /data/index'), {
  code: 'EMFILE'
})

/** As the driver of PostgreSQL makes it. */
function databaseError(message: string, code: string): Error {
  return Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code })
}

it.each([
  [
    'a node that cannot be reached',
    new NodeUnavailableError('upstream 1 cannot be reached (ECONNREFUSED)', { fault: 'unreachable' }),
    /^The chain's node cannot be reached\. Try again later\.$/
  ],
  [
    'a node that is silent',
    new NodeUnavailableError('upstream 1 did not answer in time', { fault: 'timedOut' }),
    /did not answer in time/
  ],
  [
    'a node that limits the rate of calls',
    new NodeUnavailableError('upstream 1 limits the rate of calls (HTTP 429)', { fault: 'throttled' }),
    /limits the rate of calls/
  ],
  [
    'a node that contradicts itself',
    new NodeContradictionError('block 7: the parts of http://upstream 1', { blockNumber: 7 }),
    /contradicts itself about block 7/
  ],
  [
    'a node that contradicts itself about an old state',
    new NodeContradictionError('nonces of http://upstream 1', { keptFrom: 9 }),
    /contradicts itself.*kept from block 9 on, and read on from there/
  ],
  [
    'a node that has pruned a block',
    new NodeContradictionError('block 7: upstream 1 does not have it', { blockNumber: 7, isMissing: true }),
    /does not have block 7 or its receipts: it lags, or has pruned them/
  ],
  [
    'a node without the state that is asked for',
    new NodeRpcError('upstream 1: missing trie node', -32000, undefined, { nodeMessage: 'missingData' }),
    /does not have the block or state that this answer needs/
  ],
  [
    'a node that refuses a call',
    new NodeRpcError('upstream 1: no', -32601, undefined, { method: 'eth_call' }),
    /refused eth_call, which this method needs \(error -32601\)/
  ],
  [
    'nodes that all serve another chain',
    new ConfigError('chain 1: upstream 1 serves chain 5, expected 1'),
    /serves another chain/
  ],
  [
    'a store whose server is away',
    new StoreUnavailableError(
      'PostgreSQL refused: terminating connection due to administrator command (57P01)'
    ),
    /The database of the chain's index cannot be reached/
  ],
  [
    'a full disk of SQLite',
    toSqliteError(new Error('database or disk is full'), 13),
    /The disk of the chain's index is full: space has to be freed/
  ],
  [
    'a full disk of PostgreSQL, as it comes from another thread',
    new StoreError(
      'PostgreSQL refused',
      {},
      { cause: Object.assign(new Error('x'), { name: 'Error [ENOSPC]' }) }
    ),
    /The disk of the chain's index is full/
  ],
  [
    'a full disk of PostgreSQL',
    toPostgresError(databaseError('could not extend file', '53100')),
    /The disk of the chain's index is full/
  ],
  [
    'a store of another build',
    new StoreError('PostgreSQL has format 3', { storedFormat: 3, expectedFormat: 2 }),
    /another build of this server: its host has to begin it anew/
  ]
])(
  '%s makes the chain unavailable, and the caller learns the cause without the words of node or store',
  (_, failure, message) => {
    const { reason, error } = toWireError(failure, call)
    expect(reason).toBe('UPSTREAM_UNAVAILABLE')
    expect(error.code).toBe(-32002)
    expect(error.data.extraMessage).toMatch(message)
    expect(JSON.stringify(error)).not.toMatch(/upstream 1|ECONNREFUSED|http:|trie|PostgreSQL|SQLite|57P01/)
  }
)

it.each([
  ['the system', openFiles],
  ['the store', new StoreError('SQLite refused: unable to open database file', { systemCode: 'EMFILE' })],
  ['a connection to a node', new NodeUnavailableError('upstream 1', { fault: 'busy', systemCode: 'ENFILE' })]
])('a lack of file descriptors that %s reports is an overload, with its cause', (_, failure) => {
  const { reason, error } = toWireError(failure, call)
  expect(reason).toBe('OVERLOADED')
  expect(error.data).toMatchObject({
    retryAfterMs: 1_000,
    extraMessage: expect.stringMatching(/^The server is out of file descriptors\..*ulimit -n/)
  })
  expect(JSON.stringify(error)).not.toMatch(/data\/index|upstream 1|SQLite/)
})

it.each([
  ['of a known block', { part: 'record', block: 17 } as const, { blockNumber: 17 }],
  ['of no block', { part: 'meta' } as const, {}]
])('damage %s is a refusal that may pass', (_, damage, named) => {
  const { reason, error } = toWireError(new IndexDamagedError(damage, 'its checksum differs'), call)
  expect(reason).toBe('INDEX_DAMAGED')
  expect(error.data).toEqual({ reason, ...named, retryAfterMs: 10_000, extraMessage: expect.any(String) })
})

it.each([
  ['SQLite', toSqliteError(new Error('database disk image is malformed'), 267)],
  ['PostgreSQL', toPostgresError(databaseError('invalid page in block 3', 'XX001'))]
])('a page that %s finds damaged is damage of the index', (_, failure) => {
  const { reason, error } = toWireError(failure, call)
  expect(reason).toBe('INDEX_DAMAGED')
  expect(JSON.stringify(error)).not.toMatch(/malformed|invalid page/)
})

it('a store that refuses is a bug, not a moment to wait for', () => {
  expect(toWireError(new StoreError('the store is damaged'), call).reason).toBe('INTERNAL')
})

it('a bug is told as an id only', () => {
  const { reason, error } = toWireError(new TypeError('x is not a function'), call)
  expect(reason).toBe('INTERNAL')
  expect(error.data).toMatchObject({ requestId: 'r-1' })
  expect(JSON.stringify(error)).not.toContain('not a function')
})
