import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createProgress } from './createProgress.ts'

test('outside a terminal it writes one plain line per tenth and the last state', () => {
  const lines: string[] = []
  const progress = createProgress('Indexing', 'blocks', { write: text => lines.push(text) })
  for (let done = 0; done <= 203; done++) progress.update(done, 210)
  progress.stop()
  expect(lines.length).toBe(11)
  expect(lines[0]).toBe('Indexing: 0 of 210 blocks\n')
  expect(lines.at(-1)).toBe('Indexing: 203 of 210 blocks\n')
})

test('an end that is already reached is said once', () => {
  const lines: string[] = []
  const progress = createProgress('Indexing', 'blocks', { write: text => lines.push(text) })
  progress.update(7, 7)
  progress.update(7, 7)
  progress.stop()
  expect(lines).toEqual(['Indexing: 7 of 7 blocks\n'])
})

test('nothing to count and nothing counted are not errors', () => {
  const lines: string[] = []
  createProgress('Indexing', 'blocks', { write: text => lines.push(text) }).stop()
  const progress = createProgress('Indexing', 'blocks', { write: text => lines.push(text) })
  progress.update(0, 0)
  progress.stop()
  expect(lines).toEqual(['Indexing: 0 of 0 blocks\n'])
})

test('on a terminal it draws a bar with both numbers', () => {
  const terminal = Object.assign(new PassThrough(), {
    isTTY: true as const,
    columns: 100,
    cursorTo() {},
    clearLine() {}
  })
  const progress = createProgress('Indexing', 'blocks', terminal)
  progress.update(3, 12)
  progress.update(12, 12)
  progress.stop()
  const drawn = String(terminal.read())
  expect(drawn).toContain('12 of 12 blocks')
  expect(drawn).toContain('█')
})
