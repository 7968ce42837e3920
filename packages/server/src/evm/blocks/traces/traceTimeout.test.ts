import { expect, it } from 'vitest'
import { NodeContradictionError, NodeRpcError } from '../../../platform/errors.ts'
import { createTraceTimeout } from './traceTimeout.ts'

const missing = new NodeRpcError('no such method', -32601, undefined)
const passing = new NodeContradictionError('the trace is missing')

function start() {
  let now = 0
  const timeout = createTraceTimeout({ now: () => now })
  return {
    timeout,
    pass(seconds: number) {
      now += seconds * 1_000
    }
  }
}

it('waits for nothing where no node has ever had the methods', () => {
  expect(start().timeout.isOver(1, missing)).toBe(true)
})

it('waits a minute where the methods have been there', () => {
  const { timeout, pass } = start()
  timeout.received(1)
  expect(timeout.isOver(2, missing)).toBe(false)
  pass(59)
  expect(timeout.isOver(2, missing)).toBe(false)
  pass(1)
  expect(timeout.isOver(2, missing)).toBe(true)
})

it('waits a minute for one block, whatever comes of those behind it', () => {
  const { timeout, pass } = start()
  expect(timeout.isOver(2, passing)).toBe(false)
  pass(30)
  timeout.received(3)
  pass(30)
  expect(timeout.isOver(2, passing)).toBe(true)
})

it('waits for none of the next blocks once one was given up, until traces come again', () => {
  const { timeout, pass } = start()
  timeout.isOver(2, passing)
  pass(60)
  expect([2, 3, 4].map(number => timeout.isOver(number, passing))).toEqual([true, true, true])
  timeout.received(5)
  expect(timeout.isOver(6, passing)).toBe(false)
})

it('waits for a silent node a minute, and a few seconds for each block once one was given up', () => {
  const { timeout, pass } = start()
  expect(timeout.requestMs()).toBe(60_000)
  timeout.isOver(2, passing)
  expect(timeout.requestMs()).toBe(60_000)
  pass(60)
  timeout.isOver(2, passing)
  expect([timeout.requestMs(), timeout.requestMs()]).toEqual([5_000, 5_000])
  pass(600)
  expect([timeout.requestMs(), timeout.requestMs()]).toEqual([60_000, 5_000])
  timeout.received(9)
  expect(timeout.requestMs()).toBe(60_000)
})
