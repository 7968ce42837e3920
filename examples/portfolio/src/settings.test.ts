import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readSettings } from './settings.ts'

const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

test('the README lists each setting that is read, and no other', () => {
  const read = new Set<string>()
  readSettings(
    new Proxy<Record<string, unknown>>(
      {},
      {
        get(_target, name) {
          read.add(String(name))
          return undefined
        }
      }
    )
  )
  const listed = [...page.matchAll(/^\| `(VITE_\w+)` \|/gm)].map(([, name]) => name)
  expect(listed.sort()).toEqual([...read].sort())
})

test('the chains of the README are read as they stand there', () => {
  const text = /```json\n([^`]+)```/.exec(page)?.[1] ?? ''
  expect(readSettings({ VITE_CHAIN_DATA_CHAINS: text }).chains).toEqual(JSON.parse(text))
})

test('what is not set is the devnet, without a key', () => {
  const { serviceUrl, clientKey, chains } = readSettings({ VITE_CHAIN_DATA_URL: '' })
  expect({ serviceUrl, clientKey, ids: chains.map(({ id }) => id) }).toEqual({
    serviceUrl: 'http://127.0.0.1:8080',
    clientKey: '',
    ids: [31337, 103]
  })
})
