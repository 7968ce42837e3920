import { describe, expect, it } from 'vitest'
import { buildChain } from '../../test/buildChain.ts'
import type { Address, ConfirmedTransaction, HoldingCandidate, IndexedTransaction } from '../model/evm.ts'
import { withRows } from './deriveRows.ts'
import { encodeBlock } from './encodeBlock.ts'
import { toHex } from './hexBytes.ts'
import { packBlocks } from './packBlocks.ts'
import { roles } from './RecordRows.ts'
import { candidateHeadLength, standardOf, tokenIdsOf } from './tokenKey.ts'

const addressOf = (name: string): Address => `0x${Buffer.from(name).toString('hex').padStart(40, '0')}`
const zero = addressOf('')
const [alice, bob, carol, dan, token] = ['alice', 'bob', 'carol', 'dan', 'token'].map(addressOf) as [
  Address,
  Address,
  Address,
  Address,
  Address
]

/** What a test says of a transaction; the lists default to none. */
interface Plan extends Partial<Omit<IndexedTransaction, 'transaction'>> {
  readonly fields?: Partial<ConfirmedTransaction>
}

/** A transaction of alice's; the rest of it is of no account here. */
function rowsOf({ fields, ...lists }: Plan) {
  const [block] = buildChain([[{ name: 'a', parties: [alice] }]])
  const [first] = block!.transactions
  const transaction = { ...first!.transaction, data: '0x' as const, ...fields }
  const each = { transaction, parties: [alice], candidates: [], ...lists }
  const packed = withRows(packBlocks([encodeBlock({ ...block!, transactions: [each], events: [] })]))
  const { partyAddresses, partyRoles, candidates, candidateEnds, candidateRoles } = packed
  return {
    extra: packed.extras.length,
    parties: Object.fromEntries(
      [...partyRoles].map((role, row) => [toHex(partyAddresses.subarray(20 * row, 20 * row + 20)), role])
    ),
    candidates: [...candidateRoles].map((role, row) => {
      const bytes = candidates.subarray(candidateEnds[row - 1] ?? 0, candidateEnds[row])
      const candidate: HoldingCandidate = {
        owner: toHex(bytes.subarray(0, 20)),
        contract: toHex(bytes.subarray(20, 40)),
        standard: standardOf(bytes[40] ?? -1),
        ...tokenIdsOf(bytes.subarray(candidateHeadLength))
      }
      return [candidate, role] as const
    })
  }
}

describe('roles of the parties of a transaction', () => {
  it('are those of sender, receiver and created contract', () => {
    expect(rowsOf({ fields: { to: bob }, parties: [alice, bob] }).parties).toEqual({
      [alice]: roles.sent,
      [bob]: roles.received
    })
    expect(rowsOf({ fields: { contractAddress: carol }, parties: [alice, carol] }).parties).toEqual({
      [alice]: roles.sent,
      [carol]: roles.created
    })
  })

  it('are joined where an account has several, and need no extra bytes', () => {
    const { parties, extra } = rowsOf({
      fields: { to: alice },
      parties: [alice, bob, zero, carol, dan],
      candidates: [
        { owner: alice, contract: token, standard: 'erc20' },
        { owner: bob, contract: token, standard: 'erc20' }
      ],
      transfers: [
        { standard: 'erc20', contract: token, from: alice, to: bob, amount: 1n },
        { standard: 'erc20', contract: token, from: zero, to: alice, amount: 1n }
      ],
      internal: [{ kind: 'call', from: bob, to: carol, value: 1n }],
      operations: [
        {
          entryPoint: token,
          userOpHash: `0x${'11'.repeat(32)}`,
          sender: dan,
          nonce: 0n,
          success: true,
          actualGasCost: 0n
        }
      ]
    })
    expect(extra).toBe(0)
    expect(parties).toEqual({
      [alice]: roles.sent | roles.received | roles.tokenIn | roles.tokenOut,
      [bob]: roles.tokenIn | roles.internalOut,
      [zero]: roles.tokenOut,
      [carol]: roles.internalIn,
      [dan]: roles.signed
    })
  })

  it('are `signed` where nothing in the record makes the account a party', () => {
    const { parties, extra } = rowsOf({ parties: [alice, bob] })
    expect(parties).toEqual({ [alice]: roles.sent, [bob]: roles.signed })
    // No accounts with events, index, lists, number of parties; two parties with roles.
    expect(extra).toBe(4 + 2 * 21)
  })

  it('leave out the account that wraps native currency, and the contract of a token', () => {
    const { parties, candidates, extra } = rowsOf({
      candidates: [
        { owner: bob, contract: token, standard: 'erc20' },
        { owner: carol, contract: token, standard: 'erc20' }
      ],
      transfers: [
        { standard: 'erc20', contract: token, from: zero, to: bob, amount: 5n, isWrapping: true },
        { standard: 'erc20', contract: token, from: carol, to: zero, amount: 5n, isWrapping: true }
      ]
    })
    expect(parties).toEqual({ [alice]: roles.sent })
    expect(candidates).toEqual([
      [{ owner: bob, contract: token, standard: 'erc20' }, roles.tokenIn],
      [{ owner: carol, contract: token, standard: 'erc20' }, roles.tokenOut]
    ])
    expect(extra).toBe(0)
  })
})

describe('roles of the candidates of a transaction', () => {
  it('say whether the token came, went, or both; of ERC-721 only who received it is a candidate', () => {
    const listed: readonly (readonly [HoldingCandidate, number])[] = [
      [{ owner: alice, contract: token, standard: 'erc20' }, roles.tokenIn | roles.tokenOut],
      [{ owner: bob, contract: token, standard: 'erc20' }, roles.tokenIn | roles.tokenOut],
      [{ owner: bob, contract: token, standard: 'erc721', tokenId: 2n ** 255n }, roles.tokenIn],
      [{ owner: bob, contract: token, standard: 'erc721', tokenId: 0n, lastTokenId: 300n }, roles.tokenIn],
      [{ owner: alice, contract: token, standard: 'erc1155', tokenId: 7n }, roles.tokenOut],
      [{ owner: zero, contract: token, standard: 'erc1155', tokenId: 7n }, roles.tokenIn]
    ]
    const { candidates, extra } = rowsOf({
      parties: [alice, bob, zero],
      candidates: listed.map(([candidate]) => candidate),
      transfers: [
        { standard: 'erc20', contract: token, from: alice, to: bob, amount: 1n },
        { standard: 'erc20', contract: token, from: bob, to: alice, amount: 1n },
        { standard: 'erc721', contract: token, from: alice, to: bob, tokenId: 2n ** 255n },
        { standard: 'erc721', contract: token, from: zero, to: bob, tokenId: 0n, lastTokenId: 300n },
        { standard: 'erc1155', contract: token, from: alice, to: zero, tokenId: 7n, amount: 3n }
      ]
    })
    expect(candidates).toEqual(listed)
    expect(extra).toBe(0)
  })

  it('are `tokenIn` where no transfer makes the candidate', () => {
    const candidate: HoldingCandidate = { owner: bob, contract: token, standard: 'erc721', tokenId: 1n }
    expect(rowsOf({ candidates: [candidate, candidate] }).candidates).toEqual([[candidate, roles.tokenIn]])
  })
})
