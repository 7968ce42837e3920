import { describe, expect, it } from 'vitest'
import { isMethodMissing } from '../../../nodes/upstreams/errorWords.ts'
import { NodeContradictionError } from '../../../platform/errors.ts'
import type { TraceableBlock } from './frames.ts'
import { readCallTracer } from './readCallTracer.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}` as const
const address = (digit: string) => `0x${digit.repeat(40)}` as const
const [a, b, c] = [address('a'), address('b'), address('c')]

const block: TraceableBlock = {
  ref: { number: 5, hash: hash('5') },
  transactions: [{ hash: hash('1'), from: a, to: b, value: 7n, status: 3 }]
}
const root = (change: object = {}) => ({
  type: 'CALL',
  from: a,
  to: b,
  value: '0x7',
  gas: '0x0',
  gasUsed: '0x0',
  input: '0x',
  ...change
})
const answer = (change: object = {}) => [{ txHash: hash('1'), result: root(change) }]

describe('readCallTracer', () => {
  it('reads a tree in the order of execution', () => {
    const calls = [
      { type: 'DELEGATECALL', from: b, to: c, value: '0x7', calls: [{ type: 'STATICCALL', from: b, to: c }] },
      { type: 'CREATE', from: b, to: c, value: '0x1', output: '0x60' },
      { type: 'CREATE2', from: b, to: c },
      {
        type: 'CREATE',
        from: b,
        value: '0x1',
        error: 'execution reverted',
        calls: [{ type: 'call', from: c, to: a, value: '0x2' }]
      },
      { type: 'CALLCODE', from: b, to: c, value: '0x9' },
      { type: 'SELFDESTRUCT', from: b, to: a, value: '0x3' }
    ]
    expect(readCallTracer(answer({ calls }), block)).toEqual([
      [
        { kind: 'call', depth: 0, from: a, to: b, value: 7n },
        { kind: 'delegate', depth: 1, from: b, to: c, value: 0n },
        { kind: 'call', depth: 2, from: b, to: c, value: 0n },
        { kind: 'create', depth: 1, from: b, to: c, value: 1n, isEmpty: false },
        { kind: 'create', depth: 1, from: b, to: c, value: 0n, isEmpty: true },
        { kind: 'create', depth: 1, from: b, value: 1n, error: 'execution reverted' },
        { kind: 'call', depth: 2, from: c, to: a, value: 2n },
        { kind: 'delegate', depth: 1, from: b, to: c, value: 0n },
        { kind: 'selfdestruct', depth: 1, from: b, to: a, value: 3n }
      ]
    ])
  })

  it('reads as deep as the EVM goes, and refuses what is nested deeper without running out of stack', () => {
    const nested = (depth: number) => {
      let inner: object | undefined
      for (let i = 0; i < depth; i++)
        inner = { type: 'CALL', from: a, to: b, ...(inner && { calls: [inner] }) }
      return answer({ calls: [inner] })
    }
    expect(readCallTracer(nested(1_024), block)[0]).toHaveLength(1_025)
    expect(() => readCallTracer(nested(200_000), block)).toThrow(/nested too deep/)
  })

  it('does not take single instructions for a tree: the node lacks the tracer', () => {
    const structLogs = [
      { txHash: hash('1'), result: { gas: 21_000, failed: false, returnValue: '', structLogs: [] } }
    ]
    let thrown: unknown
    try {
      readCallTracer(structLogs, block)
    } catch (error) {
      thrown = error
    }
    expect(isMethodMissing(thrown)).toBe(true)
  })

  it.each<[string, unknown, RegExp]>([
    ['no list', { result: root() }, /traces is .*expected a list/],
    ['fewer traces than transactions', [], /traces of 0 transactions, but it has 1/],
    ['more traces than transactions', [...answer(), ...answer()], /traces of 2 transactions, but it has 1/],
    ['the trace of another transaction', [{ txHash: hash('2'), result: root() }], /is of 0x2/],
    [
      'a trace that was not made',
      [{ txHash: hash('1'), error: 'execution timeout' }],
      /was not made: execution timeout/
    ],
    [
      'a step of no known type',
      answer({ calls: [{ type: 'constructor', from: a, to: b }] }),
      /type "constructor"/
    ],
    ['a step of no type', answer({ calls: [{ from: a, to: b }] }), /type nothing/],
    ['a step that is none', answer({ calls: [null] }), /a step is null/],
    ['calls that are no list', answer({ calls: {} }), /calls is \{\}/],
    ['a value beyond 256 bits', answer({ value: `0x1${'0'.repeat(64)}` }), /value is "0x1/],
    ['a call to nobody', answer({ to: null }), /to is null/]
  ])('refuses %s', (_, raw, message) => {
    expect(() => readCallTracer(raw, block)).toThrow(NodeContradictionError)
    expect(() => readCallTracer(raw, block)).toThrow(message)
  })
})
