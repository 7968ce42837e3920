import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { documentWithPrefix, openRpcDocument } from './document.ts'
import { serviceVersion } from './index.ts'
import { checkResult } from './validators.ts'

const names = (document: { methods: { name?: unknown }[] }) => document.methods.map(method => method.name)

it('the document is the one in the specification folder, and a valid result of rpc.discover', () => {
  const path = new URL('../../../spec/openrpc.json', import.meta.url)
  expect(openRpcDocument).toEqual(JSON.parse(readFileSync(path, 'utf8')))
  expect(checkResult('rpc.discover', openRpcDocument)).toBeUndefined()
  expect(openRpcDocument.info.version).toBe(serviceVersion)
})

it('another prefix changes the names of prefixed methods and nothing else', () => {
  const document = documentWithPrefix('acme_')
  expect(names(document)).toEqual([
    'acme_getTransactionsByAddress',
    'acme_watchAddresses',
    'acme_getTokensAndNFTs',
    'enhancedGetTokensAndNFTs',
    'acme_getSyncStatus',
    'acme_verifyHistory',
    'enhancedGetTransactionsByAddress',
    'rpc.discover'
  ])
  const methods = document.methods.map((method, index) => ({
    ...method,
    name: names(openRpcDocument)[index]
  }))
  expect({ ...document, methods }).toEqual(openRpcDocument)
  expect(documentWithPrefix('svc_')).toBe(openRpcDocument)
})
