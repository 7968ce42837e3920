import { expect, test } from 'vitest'
import { ConfigError } from '../../platform/errors.ts'
import { parseStoreUrl } from './parseStoreUrl.ts'

test('reads a folder, relative or absolute, also with a drive letter or spaces', () => {
  expect(parseStoreUrl('sqlite:./chain-data')).toEqual({ kind: 'sqlite', folder: './chain-data' })
  expect(parseStoreUrl('sqlite:/var/lib/chain data')).toEqual({
    kind: 'sqlite',
    folder: '/var/lib/chain data'
  })
  expect(parseStoreUrl('sqlite:C:\\data')).toEqual({ kind: 'sqlite', folder: 'C:\\data' })
})

test('reads the store that lives in memory', () => {
  expect(parseStoreUrl('sqlite::memory:')).toEqual({ kind: 'memory' })
})

test('reads both spellings of postgres and leaves the URL as it is', () => {
  for (const url of [
    'postgres://u:p@db.example/chain',
    'postgresql://localhost:5433/chain?sslmode=require'
  ]) {
    expect(parseStoreUrl(url)).toEqual({ kind: 'postgres', url })
  }
})

test('keeps the replicas of a PostgreSQL beside it, in their order', () => {
  const replicaUrls = ['postgres://a/chain', 'postgresql://b/chain']
  expect(parseStoreUrl('postgres://primary/chain', replicaUrls)).toEqual({
    kind: 'postgres',
    url: 'postgres://primary/chain',
    replicaUrls
  })
})

test.each([
  ['sqlite:./folder', 'postgres://u:hunter2@a/chain', 'store is no PostgreSQL'],
  ['postgres://primary/chain', 'mysql://u:hunter2@a/chain', 'storeReplicas'],
  ['postgres://primary/chain', 'postgres://u:hunter2@a', 'storeReplicas']
])('beside %j, refuses the replica %j, saying where and no password', (store, replica, part) => {
  const refused = () => parseStoreUrl(store, [replica])
  expect(refused).toThrow(ConfigError)
  expect(refused).toThrow(part)
  expect(refused).not.toThrow(/hunter2/)
})

test.each([
  ['', 'without a scheme'],
  ['./folder', 'without a scheme'],
  ['mysql://u:hunter2@h/db', 'the scheme "mysql"'],
  ['sqlite:', 'names no folder'],
  ['sqlite:///tmp/x', 'looks like a URL'],
  ['sqlite::shared:', 'is not known'],
  ['postgres://', 'names no host or no database'],
  ['postgres://u:hunter2@localhost', 'names no host or no database']
])('refuses %j, saying what was expected and no password', (url, part) => {
  const refused = () => parseStoreUrl(url)
  expect(refused).toThrow(ConfigError)
  expect(refused).toThrow(part)
  expect(refused).toThrow(/sqlite:/)
  expect(refused).not.toThrow(/hunter2/)
})
