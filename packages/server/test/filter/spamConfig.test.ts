import { expect, test } from 'vitest'
import { parseConfig } from '../../src/server/config/config.ts'

const base = {
  projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
  chains: { evm: [{ chainId: 1, rpcUrls: ['http://127.0.0.1:8545'] }] }
}
const address = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'
const problemOf = (config: object): string => {
  try {
    parseConfig({ ...base, ...config })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return ''
}

test('lists of contracts are empty by default and take any case', () => {
  expect(parseConfig(base).spam).toEqual({ allow: [], deny: [] })
  const lists = { allow: [`1:${address}`], deny: [`10:${address}`, `1:${`0x${'ab'.repeat(20)}`}`] }
  expect(parseConfig({ ...base, spam: lists }).spam).toEqual(lists)
})

test.each(['', address, `0:${address}`, `1:${address.slice(0, -1)}`, `x:${address}`, `1: ${address}`, `1:${address}0`])(
  'the contract %j is refused',
  contract => {
    expect(problemOf({ spam: { deny: [contract] } })).toContain('"<chainId>:<address>"')
  }
) // biome-ignore format: one line

test('a contract in both lists is refused, whatever its case', () => {
  const problem = problemOf({ spam: { allow: [`1:${address}`], deny: [`1:${address.toLowerCase()}`] } })
  expect(problem).toContain('spam.deny')
  expect(problem).toContain('allow')
  expect(problemOf({ spam: { allow: [`1:${address}`], deny: [`10:${address}`] } })).toBe('')
})

test.each([9_999, 604_800_001, 1.5, '3600000'])('a refresh every %j milliseconds is refused', tokenListRefreshMs => {
  expect(problemOf({ metadata: { tokenListRefreshMs } })).toContain('10000 to 604800000')
}) // biome-ignore format: one line
