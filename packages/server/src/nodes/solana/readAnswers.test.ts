import { expect, test } from 'vitest'
import { NodeContradictionError } from '../../platform/errors.ts'
import { readAccountsInOrder } from './readAnswers.ts'
import { TOKEN_PROGRAM } from './solanaAddress.ts'

/** An answer with one account, of which `account` replaces members. */
function answerWith(account: object) {
  const whole = { data: ['AQID', 'base64'], executable: false, lamports: 1, owner: TOKEN_PROGRAM, ...account }
  const text = JSON.stringify({ context: { slot: 7 }, value: [whole, null] })
  return { text, checkYield: () => undefined, result: { start: 0, end: text.length } }
}

test('an account is its owner and its bytes; null is no account', async () => {
  const { slot, value } = await readAccountsInOrder(answerWith({}))
  expect(slot).toBe(7)
  expect(value.map(account => account && [account.owner, [...account.data]])).toEqual([
    [TOKEN_PROGRAM, [1, 2, 3]],
    undefined
  ])
})

test.each([
  ['a letter that is none of base64', { data: ['AQI!', 'base64'] }],
  ['letters of the URL alphabet', { data: ['AQ-_', 'base64'] }],
  ['a missing letter', { data: ['AQI', 'base64'] }],
  ['padding in the middle', { data: ['A=ID', 'base64'] }],
  ['another encoding', { data: ['AQID', 'base58'] }],
  ['data without its encoding', { data: ['AQID'] }],
  ['parsed data', { data: { program: 'spl-token' } }],
  ['no owner', { owner: undefined }],
  ['an owner that is no address', { owner: 'nobody' }],
  ['lamports below 0', { lamports: -1 }],
  ['no executable', { executable: undefined }]
])('%s is refused, never read as another account', async (_what, account) => {
  await expect(readAccountsInOrder(answerWith(account))).rejects.toThrow(NodeContradictionError)
})
