import { brokenBalances } from './catalogue/brokenBalances.ts'
import { brokenCollections } from './catalogue/brokenCollections.ts'
import { brokenDecimals } from './catalogue/brokenDecimals.ts'
import { falseLogs } from './catalogue/falseLogs.ts'
import { fickleConduct } from './catalogue/fickleConduct.ts'
import { movingContracts } from './catalogue/movingContracts.ts'
import { strangeTexts } from './catalogue/strangeTexts.ts'
import type { HostileToken } from './HostileToken.ts'

/**
 * Tokens that mean harm, are broken, or behave in ways that surprise, each with what an answer must say of it.
 *
 * The truth is written down from intent, from what is deployed and minted; nothing of it was read back.
 *
 * @see docs/holdings.md
 */
export const hostileTokens: readonly HostileToken[] = [
  ...brokenBalances,
  ...brokenDecimals,
  ...strangeTexts,
  ...brokenCollections,
  ...falseLogs,
  ...fickleConduct,
  ...movingContracts
]
