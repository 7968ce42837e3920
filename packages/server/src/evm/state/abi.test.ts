import { AbiCoder } from 'ethers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeAddress, decodeBool, decodeText, decodeUint, encodeCall, readReturnData } from './abi.ts'

const abi = AbiCoder.defaultAbiCoder()
const encode = (type: string, value: unknown) => abi.encode([type], [value]).slice(2)

test('encodes a call as a library does', () => {
  const owner = '0x00000000000000000000000000000000000a11ce'
  const id = 2n ** 256n - 1n
  expect(encodeCall('0x00fdd58e', owner, id)).toBe(
    `0x00fdd58e${abi.encode(['address', 'uint256'], [owner, id]).slice(2)}`
  )
  expect(encodeCall('0x313ce567')).toBe('0x313ce567')
})

test('reads back every text that a library writes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), text => {
      expect(decodeText(encode('string', text))).toBe(text)
    })
  )
})

test('never reads beyond the data and never throws, whatever bytes come', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      const data = Buffer.from(bytes).toString('hex')
      const text = decodeText(data)
      if (text !== undefined) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bytes.length * 3)
      decodeUint(data)
      decodeAddress(data)
      decodeBool(data)
    })
  )
})

test('a word must be whole, more is passed over', () => {
  expect(decodeUint('ff'.repeat(32))).toBe(2n ** 256n - 1n)
  expect(decodeUint(`${'00'.repeat(31)}05${'ff'.repeat(40)}`)).toBe(5n)
  expect(decodeUint('ff'.repeat(31))).toBeUndefined()
  expect(decodeUint('')).toBeUndefined()
})

test('an address must be clean above its 20 bytes, a truth value 0 or 1', () => {
  expect(decodeAddress(`${'00'.repeat(12)}${'AB'.repeat(20)}`)).toBe(`0x${'ab'.repeat(20)}`)
  expect(decodeAddress(`01${'00'.repeat(11)}${'ab'.repeat(20)}`)).toBeUndefined()
  expect([0n, 1n, 2n].map(value => decodeBool(encode('uint256', value)))).toEqual([false, true, undefined])
})

test('only whole bytes in hex are return data', () => {
  expect(readReturnData('0xABcd')).toBe('ABcd')
  expect(readReturnData('0x')).toBe('')
  expect(['', 'ab', '0xa', '0xzz', null, 1, {}].map(readReturnData)).toEqual(Array(7).fill(undefined))
})
