import { expect, it } from 'vitest'
import { NodeContradictionError, NodeRpcError } from '../../../platform/errors.ts'
import { createTracePatience } from './tracePatience.ts'

const missing = new NodeRpcError('no such method', -32601, undefined)
const passing = new NodeContradictionError('the trace is missing')

function start() {
  let now = 0
  const patience = createTracePatience({ now: () => now })
  return {
    patience,
    pass(seconds: number) {
      now += seconds * 1_000
    }
  }
}

it('waits for nothing where no node has ever had the methods', () => {
  expect(start().patience.isOver(1, missing)).toBe(true)
})

it('waits a minute where the methods have been there', () => {
  const { patience, pass } = start()
  patience.came(1)
  expect(patience.isOver(2, missing)).toBe(false)
  pass(59)
  expect(patience.isOver(2, missing)).toBe(false)
  pass(1)
  expect(patience.isOver(2, missing)).toBe(true)
})

it('waits a minute for one block, whatever comes of those behind it', () => {
  const { patience, pass } = start()
  expect(patience.isOver(2, passing)).toBe(false)
  pass(30)
  patience.came(3)
  pass(30)
  expect(patience.isOver(2, passing)).toBe(true)
})

it('waits for none of the next blocks once one was given up, until traces come again', () => {
  const { patience, pass } = start()
  patience.isOver(2, passing)
  pass(60)
  expect([2, 3, 4].map(number => patience.isOver(number, passing))).toEqual([true, true, true])
  patience.came(5)
  expect(patience.isOver(6, passing)).toBe(false)
})

it('waits for a silent node a minute, and a few seconds for each block once one was given up', () => {
  const { patience, pass } = start()
  expect(patience.limitMs()).toBe(60_000)
  patience.isOver(2, passing)
  expect(patience.limitMs()).toBe(60_000)
  pass(60)
  patience.isOver(2, passing)
  expect([patience.limitMs(), patience.limitMs()]).toEqual([5_000, 5_000])
  pass(600)
  expect([patience.limitMs(), patience.limitMs()]).toEqual([60_000, 5_000])
  patience.came(9)
  expect(patience.limitMs()).toBe(60_000)
})
