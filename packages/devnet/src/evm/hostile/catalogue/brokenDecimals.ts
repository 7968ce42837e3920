import { type HostileToken, listedToken, unreadable } from '../HostileToken.ts'
import { bytes, empty, loops, text, word } from '../scriptedToken.ts'
import { plainToken, scriptedErc20 } from './scriptedEntries.ts'

const decimalsUnreadable = unreadable('DECIMALS_UNREADABLE')

/** Tokens whose `decimals` are at an end of what is possible, or beyond. */
export const brokenDecimals: readonly HostileToken[] = [
  scriptedErc20(
    { key: 'decimals-0', about: 'cannot be divided' },
    { decimals: word(0n) },
    listedToken({ ...plainToken, decimals: 0 })
  ),
  scriptedErc20(
    { key: 'decimals-255', about: 'has the most decimals a uint8 can say' },
    { decimals: word(255n) },
    listedToken({ ...plainToken, decimals: 255 })
  ),
  scriptedErc20(
    { key: 'decimals-256', about: 'has 256 decimals, which careless readers take for 0' },
    { decimals: word(256n) },
    decimalsUnreadable
  ),
  scriptedErc20(
    { key: 'decimals-2^255', about: 'has 2^255 decimals' },
    { decimals: word(2n ** 255n) },
    decimalsUnreadable
  ),
  scriptedErc20(
    { key: 'decimals-text', about: 'tells its decimals as text, which careless readers take for 32' },
    { decimals: text('18') },
    decimalsUnreadable
  ),
  scriptedErc20(
    { key: 'decimals-missing', about: 'does not tell its decimals' },
    { decimals: undefined },
    decimalsUnreadable
  ),
  scriptedErc20(
    { key: 'decimals-empty', about: 'answers nothing when asked for its decimals' },
    { decimals: empty },
    decimalsUnreadable
  ),
  scriptedErc20(
    { key: 'decimals-short', about: 'answers one byte when asked for its decimals' },
    { decimals: bytes('0x06') },
    decimalsUnreadable
  ),
  scriptedErc20(
    { key: 'decimals-loop', about: 'never ends when asked for its decimals' },
    { decimals: loops },
    decimalsUnreadable
  )
]
