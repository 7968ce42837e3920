import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { methodFacts } from './generated/methods.gen.ts'
import type { MethodName } from './methodTypes.ts'
import { methodOfWireName, wireName } from './wireName.ts'

describe('method names on the wire', () => {
  it('are those of the document for the default prefix', () => {
    for (const method of Object.keys(methodFacts) as MethodName[]) {
      if (method === 'svc_verifySolanaHistory') continue
      expect(wireName(method)).toBe(method)
      expect(methodOfWireName(method)).toBe(method)
    }
  })

  it('are one for two forms of a method, which the endpoint tells apart', () => {
    expect(wireName('svc_verifySolanaHistory', 'acme_')).toBe('acme_verifyHistory')
    expect(methodOfWireName('svc_verifyHistory')).toBe('svc_verifyHistory')
    expect(methodOfWireName('svc_verifyHistory', undefined, '/evm-chain')).toBe('svc_verifyHistory')
    expect(methodOfWireName('svc_verifyHistory', undefined, '/solana')).toBe('svc_verifySolanaHistory')
    expect(methodOfWireName('svc_verifySolanaHistory')).toBeUndefined()
    expect(methodOfWireName('svc_getTokensAndNFTs', undefined, '/solana')).toBeUndefined()
  })

  it('carry the prefix of the host, except where a method is never prefixed', () => {
    expect(wireName('svc_getTokensAndNFTs', 'acme_')).toBe('acme_getTokensAndNFTs')
    expect(wireName('svc_getTokensAndNFTs', '')).toBe('getTokensAndNFTs')
    expect(wireName('enhancedGetTokensAndNFTs', 'acme_')).toBe('enhancedGetTokensAndNFTs')
    expect(wireName('rpc.discover', 'acme_')).toBe('rpc.discover')
  })

  it('under another prefix are unknown', () => {
    expect(methodOfWireName('svc_getTokensAndNFTs', 'acme_')).toBeUndefined()
    expect(methodOfWireName('acme_enhancedGetTokensAndNFTs', 'acme_')).toBeUndefined()
  })

  it.each(['', '__proto__', 'constructor', 'toString', 'svc_', 'SVC_getTokensAndNFTs', 'getTokensAndNFTs'])(
    'do not include %j',
    name => {
      expect(methodOfWireName(name)).toBeUndefined()
    }
  )

  it('lead back to their method for any prefix', () => {
    const methods = fc.constantFrom(...(Object.keys(methodFacts) as MethodName[]))
    fc.assert(
      fc.property(methods, fc.string(), (method, prefix) => {
        const [endpoint] = methodFacts[method].endpoints
        expect(methodOfWireName(wireName(method, prefix), prefix, endpoint)).toBe(method)
      })
    )
  })
})
