import { getCreateAddress } from 'ethers'
import { expect, it } from 'vitest'
import { createdAddress } from './createdAddress.ts'

it('is the address that ethers derives, at every length of a nonce', () => {
  const from = '0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0'
  const nonces = [0n, 1n, 127n, 128n, 255n, 256n, 2n ** 40n, 2n ** 64n - 2n]
  expect(nonces.map(nonce => createdAddress(from, nonce))).toEqual(
    nonces.map(nonce => getCreateAddress({ from, nonce }).toLowerCase())
  )
})
