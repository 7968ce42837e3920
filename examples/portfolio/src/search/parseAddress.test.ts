import { Keypair } from '@solana/web3.js'
import { getAddress, hexlify } from 'ethers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checksummed, parseAddress } from './parseAddress.ts'

const twentyBytes = fc.uint8Array({ minLength: 20, maxLength: 20 })

describe('EVM addresses', () => {
  test('get the checksum that ethers gives them, whatever case they come in', () => {
    fc.assert(
      fc.property(twentyBytes, bytes => {
        const expected = getAddress(hexlify(bytes))
        for (const typed of [expected, expected.toLowerCase(), `0X${expected.slice(2).toUpperCase()}`]) {
          expect(parseAddress(` ${typed} `)).toEqual({ family: 'evm', address: expected })
        }
      })
    )
  })

  test('need no 0x', () => {
    const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
    expect(parseAddress(address.slice(2))).toEqual({ family: 'evm', address })
  })

  test('with a wrong checksum are refused with the reason, and offered all the same', () => {
    const wrong = '0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
    const parsed = parseAddress(wrong)
    expect(parsed.problem).toContain('EIP-55')
    expect(parsed).toHaveProperty('insist', { family: 'evm', address: checksummed(wrong) })
  })

  test.each([
    ['0x1234', '40 hex digits behind 0x; this has 4'],
    [`0x${'g'.repeat(40)}`, '“g” is no hex digit'],
    [`0x${'12'.repeat(32)}`, 'hash of a transaction'],
    ['', 'Enter an address'],
    ['vitalik.eth', 'not looked up']
  ])('%s is refused with what is wrong', (typed, words) => {
    expect(parseAddress(typed).problem).toContain(words)
  })
})

describe('Solana addresses', () => {
  test('of 32 bytes are taken as they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), seed => {
        const address = Keypair.fromSeed(seed).publicKey.toBase58()
        expect(parseAddress(address)).toEqual({ family: 'solana', address })
      }),
      { numRuns: 20 }
    )
    const system = '1'.repeat(32)
    expect(parseAddress(system)).toEqual({ family: 'solana', address: system })
  })

  test.each([
    ['So1111111111111111111111111111111111111111', 'stands for 32 bytes; this is'],
    ['So11111111111111111111111111111111111111O12', '“O” is in no address'],
    ['1'.repeat(5000), 'far too long'],
    ['<script>', '“<” is in no address']
  ])('%s is refused with what is wrong', (typed, words) => {
    expect(parseAddress(typed).problem).toContain(words)
  })
})
