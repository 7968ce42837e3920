import type { HoldingsView } from './HoldingsView.ts'

const missing: Readonly<Record<string, string>> = {
  BALANCE_UNREADABLE: 'its balance cannot be read',
  DECIMALS_UNREADABLE: 'its decimals cannot be read, so an amount would mislead',
  OWNER_UNREADABLE: 'its owner cannot be read',
  TOKEN_URI_UNREADABLE: 'the address of its metadata cannot be read',
  METADATA_UNAVAILABLE: 'its metadata is not available',
  METADATA_UNREADABLE: 'its metadata is damaged',
  NAME_UNREADABLE: 'the name of this account cannot be read from it',
  MINT_UNREADABLE: 'its mint is damaged or gone, so an amount means nothing',
  ASSET_UNREADABLE: 'its account is damaged',
  COLLECTION_UNREADABLE: 'its collection is damaged',
  MPL_CORE_UNAVAILABLE: 'the list of Metaplex Core assets is not available',
  COMPRESSED_UNAVAILABLE: 'the list of compressed NFTs is not available',
  COMPRESSED_CUT_OFF: 'there are more compressed NFTs than the host reads',
  PRICES_UNAVAILABLE: 'prices of what it holds are not available'
}

/** Why something is missing, as the end of a sentence. Hosts may have reasons of their own. */
export function missingReason(reason: string): string {
  return missing[reason] ?? 'it cannot be read'
}

/** Whether there may be holdings that are not shown: a missing price hides none. */
export function mayLackHoldings(incomplete: HoldingsView['incomplete']): boolean {
  return incomplete.some(({ reason }) => reason !== 'PRICES_UNAVAILABLE')
}

const spam: Readonly<Record<string, string>> = {
  DENY_LISTED: 'this host has put it on its list of spam',
  NAME_CONFUSABLE: 'its name imitates a known one with other letters',
  NAME_OF_LISTED: 'it has the name of a known token at another address',
  NAME_HAS_URL: 'its name holds a web address',
  CLAIM_WORDS: 'its name asks to claim or visit something',
  NAME_HIDES_CHARACTERS: 'its name was written with hidden characters'
}

/** What a verdict rests on, in words. */
export function spamReasons(reasons: readonly string[]): string {
  return reasons.map(reason => spam[reason] ?? 'other signs').join('; ')
}
