import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  formatSolanaAddress,
  METAPLEX_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM
} from '../../nodes/solana/solanaAddress.ts'
import { AccountRefusal } from './borshReader.ts'
import { readTokenAccount } from './tokenAccount.ts'

const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)
process.stdout.write(`tokenAccount: CHAIN_DATA_TEST_SEED=${seed}\n`)

const mint = new Uint8Array(32).fill(7)
const owner = new Uint8Array(32).fill(9)

function bytes({ amount = 5n, state = 1, size = 165, accountType = 2 } = {}): Buffer {
  const data = Buffer.alloc(size)
  data.set(mint, 0)
  data.set(owner, 32)
  data.writeBigUInt64LE(amount, 64)
  data.writeUInt8(state, 108)
  if (size > 165) data.writeUInt8(accountType, 165)
  return data
}

const read = (data: Uint8Array, programId = TOKEN_PROGRAM, account = programId) =>
  readTokenAccount({ owner: account, data }, programId)

describe('a token account', () => {
  it('is read with every digit of its amount', () => {
    expect(read(bytes({ amount: 2n ** 64n - 1n }))).toEqual({
      mint: formatSolanaAddress(mint),
      owner: formatSolanaAddress(owner),
      amount: 18446744073709551615n,
      frozen: false
    })
  })

  it('keeps its balance while frozen', () => {
    expect(read(bytes({ state: 2 }))).toMatchObject({ amount: 5n, frozen: true })
  })

  it('is read through the extensions of Token-2022, which stay unread', () => {
    expect(read(bytes({ size: 165 + 1 + 200 }), TOKEN_2022_PROGRAM)).toMatchObject({ amount: 5n })
  })

  it('is read where its bytes lie inside a larger buffer', () => {
    const shared = Buffer.concat([Buffer.alloc(3, 255), bytes()])
    expect(read(shared.subarray(3))).toEqual(read(bytes()))
  })

  it.each([
    ['another program', 'WRONG_OWNER', () => read(bytes(), TOKEN_PROGRAM, METAPLEX_PROGRAM)],
    ['the other token program', 'WRONG_OWNER', () => read(bytes(), TOKEN_PROGRAM, TOKEN_2022_PROGRAM)],
    ['a missing last byte', 'TRUNCATED', () => read(bytes().subarray(0, 164))],
    ['nothing but zeros', 'UNINITIALIZED', () => read(Buffer.alloc(165))],
    ['an unknown state', 'MALFORMED', () => read(bytes({ state: 3 }))],
    ['extensions under the old program', 'WRONG_KIND', () => read(bytes({ size: 170 }))],
    ['a mint', 'WRONG_KIND', () => read(bytes({ size: 170, accountType: 1 }), TOKEN_2022_PROGRAM)],
    ['a multisig', 'WRONG_KIND', () => read(bytes({ size: 355 }), TOKEN_2022_PROGRAM)]
  ])('is refused: %s', (_what, reason, attempt) => {
    expect(attempt).toThrow(expect.objectContaining({ name: 'AccountRefusal', reason }))
  })

  it('throws nothing but a refusal whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (data, isNew) => {
        try {
          read(data, isNew ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM)
        } catch (error) {
          expect(error).toBeInstanceOf(AccountRefusal)
        }
      }),
      { seed }
    )
  })
})
