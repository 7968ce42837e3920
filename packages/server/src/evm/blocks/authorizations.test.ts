import type { Address, Hash } from '@chain-data/index'
import {
  computeAddress,
  hashAuthorization,
  id,
  keccak256,
  recoverAddress,
  Signature,
  SigningKey,
  toBeHex,
  toQuantity
} from 'ethers'
import { describe, expect, it } from 'vitest'
import {
  type AuthorityNonces,
  findAuthorities,
  readAuthorizations,
  type SignedAuthorizations
} from './authorizations.ts'
import { loadRecoverSender, type RecoverSender } from './roots/recoverSender.ts'

const alice: Address = `0x${'a1'.repeat(20)}`
const bob: Address = `0x${'b2'.repeat(20)}`
const sponsor: Address = `0x${'55'.repeat(20)}`
const hashOf = (index: number): Hash => `0x${String(index).padStart(64, '0')}`

type Sent = readonly [from: Address, nonce: number, ...signed: (readonly [Address, number])[]]

/** @returns the authorities of each transaction, and whether some could not be checked. */
function find(sent: readonly Sent[], nonces?: readonly (readonly [Address, number, number])[]) {
  const transactions = sent.map(([from, nonce], i) => ({ hash: hashOf(i), from, nonce: BigInt(nonce) }))
  const signed: SignedAuthorizations = new Map(
    sent.flatMap(([, , ...list], i) =>
      list.length === 0
        ? []
        : [[hashOf(i), list.map(([authority, nonce]) => ({ authority, nonce: BigInt(nonce) }))]]
    )
  )
  const known: AuthorityNonces | undefined =
    nonces &&
    new Map(nonces.map(([who, before, after]) => [who, { before: BigInt(before), after: BigInt(after) }]))
  const found = findAuthorities(transactions, { signed, ...(known && { nonces: known }) })
  return { is: sent.map((_, i) => found.authorities.get(hashOf(i)) ?? []), isUnchecked: found.isUnchecked }
}

describe('the authorities of a block', () => {
  it('have the nonce of their authorization at that point', () => {
    const sent: Sent[] = [
      [sponsor, 0, [alice, 5], [bob, 0]],
      [sponsor, 1, [alice, 5], [alice, 6]],
      [sponsor, 2, [bob, 2]]
    ]
    expect(
      find(sent, [
        [alice, 5, 7],
        [bob, 0, 1]
      ])
    ).toEqual({ is: [[alice, bob], [alice], []], isUnchecked: false })
  })

  it('use nonces by their own transactions too, the one that carries the authorization included', () => {
    const sent: Sent[] = [
      [alice, 5, [alice, 5]],
      [alice, 6, [alice, 7]],
      [sponsor, 0, [alice, 8]]
    ]
    expect(find(sent, [[alice, 5, 9]])).toEqual({ is: [[], [alice], [alice]], isUnchecked: false })
  })

  it('are too early where the nonce is not reached yet, and count once it is', () => {
    const sent: Sent[] = [
      [sponsor, 0, [alice, 1]],
      [sponsor, 1, [alice, 0]],
      [sponsor, 2, [alice, 1]]
    ]
    expect(find(sent, [[alice, 0, 2]])).toEqual({ is: [[], [alice], [alice]], isUnchecked: false })
  })

  it('all count where no nonces are known', () => {
    const sent: Sent[] = [
      [sponsor, 0, [alice, 1], [bob, 900]],
      [bob, 3]
    ]
    expect(find(sent)).toEqual({ is: [[alice, bob], []], isUnchecked: true })
  })

  it('all count of an account whose nonces something else has used as well', () => {
    // Delegated code of alice created a contract in between.
    const sent: Sent[] = [
      [sponsor, 0, [alice, 5], [bob, 3]],
      [sponsor, 1, [alice, 7]]
    ]
    const nonces = [
      [alice, 5, 8],
      [bob, 2, 2]
    ] as const
    expect(find(sent, nonces)).toEqual({ is: [[alice], [alice]], isUnchecked: true })
  })
})

describe('the signers of authorizations', () => {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const key = new SigningKey(id('authority'))
  const signed = (chainId: number, nonce: number) => {
    const { r, s, yParity } = key.sign(hashAuthorization({ address: bob, chainId, nonce }))
    return {
      ...{ chainId: toQuantity(chainId), address: bob, nonce: toQuantity(nonce) },
      r,
      s,
      yParity: toQuantity(yParity)
    }
  }
  const good = [signed(1, 0), signed(0, 1), signed(1, 2 ** 40)]
  const flipped = { ...signed(1, 3), yParity: signed(1, 3).yParity === '0x1' ? '0x0' : '0x1' }
  const bad = [
    { ...signed(1, 4), s: toQuantity(order - BigInt(signed(1, 4).s)) },
    ...['0x0', toQuantity(order), toQuantity(order - 1n), toQuantity(2n ** 256n - 1n)].flatMap(value => [
      { ...signed(1, 5), r: value },
      { ...signed(1, 5), s: value }
    ]),
    signed(2, 0)
  ]
  const hash = hashOf(1)
  const read = (list: readonly object[], recover: RecoverSender) =>
    readAuthorizations(
      [{ hash, raw: { type: '0x4', chainId: '0x1', authorizationList: list } }],
      recover
    ).get(hash)
  it('are the same in the form that nodes built on Frontier write', async () => {
    const recover = await loadRecoverSender()
    const nested = good.map(({ chainId, address, nonce, r, s, yParity }) => ({
      ...{ chain_id: Number(chainId), address, nonce },
      signature: { odd_y_parity: yParity === '0x1', r, s }
    }))
    expect(read(nested, recover)).toEqual(read(good, recover))
    expect(read(nested, recover)).toHaveLength(3)
    expect(read([{ ...nested[0], signature: 'none' }], recover)).toBeUndefined()
  })

  const byEthers: RecoverSender = ({ message, parity, r, s }) =>
    recoverAddress(
      keccak256(message),
      Signature.from({ r: toBeHex(r, 32), s: toBeHex(s, 32), yParity: parity === 0 ? 0 : 1 })
    ).toLowerCase() as Address

  it('are the same by libsecp256k1 and by ethers, and none where the signature is not valid', async () => {
    const recover = await loadRecoverSender()
    const found = read([...good, flipped, ...bad], recover)
    expect(found).toEqual(read([...good, flipped, ...bad], byEthers))
    const authority = computeAddress(key).toLowerCase()
    expect(found?.slice(0, 3)).toEqual([0n, 1n, 2n ** 40n].map(nonce => ({ authority, nonce })))
    expect(found?.slice(3).some(each => each.authority === authority)).toBe(false)
  })
})
