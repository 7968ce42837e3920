import { expect, test } from 'vitest'
import { weighObject } from './readJsonObject.ts'

test('many small values weigh far more than their text, a long text hardly more', () => {
  const texts = [`{"a":[${'{},'.repeat(100_000)}0]}`, `{"a":"${'x'.repeat(300_000)}"}`]
  const [many, long] = texts.map(text => weighObject(JSON.parse(text), text.length))
  expect(many).toBeGreaterThan(4_000_000)
  expect(long).toBeLessThan(301_000)
})
