import { type HostileToken, leftOut, listedToken, unreadable } from '../HostileToken.ts'
import { bytes, empty, invalid, loops, reverts, revertsWithZeros, word, zeros } from '../scriptedToken.ts'
import { plainToken, plainUnits, scriptedErc20, scriptedErc1155, scriptedId } from './scriptedEntries.ts'

const balanceUnreadable = unreadable('BALANCE_UNREADABLE')
const maxUint = 2n ** 256n - 1n
const nothing = { decimals: undefined, name: undefined, symbol: undefined }

/** Tokens whose `balanceOf` does not answer, or answers what cannot be. */
export const brokenBalances: readonly HostileToken[] = [
  scriptedErc20(
    { key: 'balance-loops', about: 'balanceOf never ends' },
    { balanceOf: loops },
    balanceUnreadable
  ),
  scriptedErc20(
    { key: 'all-loops', about: 'every call never ends' },
    { ...nothing, balanceOf: undefined, otherwise: loops },
    balanceUnreadable
  ),
  scriptedErc20(
    { key: 'balance-invalid', about: 'balanceOf runs into an invalid instruction' },
    { balanceOf: invalid },
    balanceUnreadable
  ),
  scriptedErc20(
    { key: 'balance-short', about: 'balanceOf answers 31 bytes' },
    { balanceOf: bytes(`0x${'ff'.repeat(31)}`) },
    balanceUnreadable
  ),
  scriptedErc20(
    { key: 'balance-empty', about: 'balanceOf answers nothing, though the token tells its decimals' },
    { balanceOf: empty },
    balanceUnreadable
  ),
  scriptedErc20(
    {
      key: 'balance-reverts',
      about: 'balanceOf refuses without a word, though the token tells its decimals'
    },
    { balanceOf: reverts },
    balanceUnreadable
  ),
  scriptedErc20(
    { key: 'balance-reverts-with-data', about: 'balanceOf refuses with an error of its own' },
    { balanceOf: { act: 'revert', data: `0xdeadbeef${'00'.repeat(31)}01` } },
    balanceUnreadable
  ),
  scriptedErc20(
    { key: 'balance-reverts-with-300-kB', about: 'balanceOf refuses with 300 kB' },
    { balanceOf: revertsWithZeros(300_000) },
    balanceUnreadable
  ),
  scriptedErc20(
    { key: 'balance-reverts-with-a-megabyte', about: 'balanceOf refuses with a megabyte' },
    { balanceOf: revertsWithZeros(1_000_000) },
    balanceUnreadable
  ),
  scriptedErc20(
    { key: 'balance-returns-300-kB', about: 'balanceOf answers 300 kB of zeros' },
    { balanceOf: zeros(300_000) },
    balanceUnreadable
  ),
  scriptedErc20(
    { key: 'balance-returns-a-megabyte', about: 'balanceOf answers a megabyte of zeros' },
    { balanceOf: zeros(1_000_000) },
    balanceUnreadable
  ),
  scriptedErc20(
    { key: 'balance-largest', about: 'balanceOf says 2^256-1' },
    { balanceOf: word(maxUint) },
    listedToken({ ...plainToken, amount: maxUint })
  ),
  scriptedErc20(
    { key: 'balance-two-words', about: 'balanceOf answers two words; the first is the balance' },
    { balanceOf: bytes(`0x${'00'.repeat(31)}05${'ff'.repeat(32)}`) },
    listedToken({ ...plainToken, amount: 5n })
  ),
  scriptedErc20(
    { key: 'refuses-all', about: 'logs a transfer and refuses every call' },
    { ...nothing, balanceOf: undefined },
    leftOut
  ),
  scriptedErc20(
    { key: 'takes-all', about: 'logs a transfer and answers every call with nothing' },
    { ...nothing, balanceOf: undefined, otherwise: empty },
    leftOut
  ),
  scriptedErc1155(
    { key: 'units-loop', about: 'balanceOf of an ERC-1155 never ends' },
    { unitsOf: loops },
    unreadable('BALANCE_UNREADABLE', scriptedId)
  ),
  scriptedErc1155(
    { key: 'units-largest', about: 'balanceOf of an ERC-1155 says 2^256-1' },
    { unitsOf: word(maxUint) },
    { nfts: [{ ...plainUnits, balance: maxUint }], incomplete: [] }
  ),
  scriptedErc1155(
    { key: 'units-refused', about: 'says by ERC-165 that it is an ERC-1155, and refuses to tell balances' },
    { unitsOf: reverts, supportsInterface: word(1n) },
    unreadable('BALANCE_UNREADABLE', scriptedId)
  )
]
