import { expect, it } from 'vitest'
import { createPasswordHider, hidingLogger } from './createSecretHider.ts'
import { createLogger } from './logger.ts'

const hide = createPasswordHider([
  'postgres://postgres:hunter%2F2@db.example/chain_data',
  'postgres://reader@replica.example/chain_data?password=another-one&sslmode=require',
  'postgres://nobody@db.example/chain_data'
])!

it('takes out passwords, plain and as they are written in a URL, and nothing an operator has to read', () => {
  expect(hide('hunter/2 and hunter%2F2 and another-one')).toBe('[removed] and [removed] and [removed]')
  const text = 'the role "postgres" may not use chain_data_1 on db.example'
  expect(hide(text)).toBe(text)
})

it('a logger hides them in messages, fields, errors and their causes, and bound fields', () => {
  const lines: string[] = []
  const logger = hidingLogger(createLogger({ level: 'debug', write: line => lines.push(line) }), hide)
  const error = new Error('refused hunter/2', { cause: new TypeError('another-one') })
  logger.child({ problem: 'hunter/2' }).warn('tried hunter/2', { reason: 'another-one', error, count: 3 })
  logger.info('all is well', { chainId: 1 })
  expect(lines).toHaveLength(2)
  expect(lines.join()).not.toMatch(/hunter|another-one/)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    ...{ msg: 'tried [removed]', problem: '[removed]', reason: '[removed]', count: 3 },
    error: { name: 'Error', message: 'refused [removed]', cause: { name: 'TypeError', message: '[removed]' } }
  })
})
