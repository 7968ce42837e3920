import type { Address, HoldingCandidate } from '@chain-data/index'
import { displayText } from '../../platform/displayText.ts'
import type { ContractFacts } from './contractFacts.ts'
import { hidesCharacters } from './spam/nameSigns.ts'
import type { Ownership } from './tokenStandards.ts'

/** The name and symbol that a contract gives itself. */
export interface ContractLabel {
  /** Display text; "" when unknown. */
  readonly name: string
  readonly symbol: string
  /** Present when the one or the other has invisible characters that no honest name needs. */
  readonly hidesCharacters?: true
}

export interface HeldToken extends ContractLabel {
  readonly address: Address
  /** Base units. 0 only for a token that the caller asked for. */
  readonly amount: bigint
  readonly decimals: number
}

export interface HeldNft extends ContractLabel {
  readonly address: Address
  readonly standard: 'erc721' | 'erc1155'
  readonly tokenId: bigint
  /** 1 for erc721. */
  readonly balance: bigint
  /** Verbatim; "" when the contract has none, or none that can be read. */
  readonly tokenUri: string
}

export interface IncompleteHolding {
  readonly address: Address
  readonly tokenId?: bigint
  readonly reason:
    | 'BALANCE_UNREADABLE'
    | 'OWNER_UNREADABLE'
    | 'DECIMALS_UNREADABLE'
    | 'TOKEN_URI_UNREADABLE'
    | 'RANGE_NOT_READ'
    | 'NAME_UNREADABLE'
}

/** A candidate, and who named it: a log, or the caller's filter for a contract without any ERC-20 log. */
export interface WantedCandidate extends HoldingCandidate {
  readonly origin: 'log' | 'filter'
}

/** A candidate with what state said about it. */
export interface OwnedCandidate extends WantedCandidate {
  readonly ownership: Ownership
}

/** Returns the contracts of `items`, each once. */
export function contractsOf(items: readonly HoldingCandidate[]): ReadonlySet<Address> {
  return new Set(items.map(({ contract }) => contract))
}

/** Checks whether a candidate stands for many ids. */
export function isRange({ lastTokenId }: HoldingCandidate): boolean {
  return lastTokenId !== undefined
}

/** Returns name and symbol as they may be shown, "" for what the contract does not answer. */
export function labelOf(facts: ContractFacts | undefined): ContractLabel {
  const { name = '', symbol = '' } = facts ?? {}
  const hides = hidesCharacters(name) || hidesCharacters(symbol)
  return { name: displayText(name), symbol: displayText(symbol), ...(hides && { hidesCharacters: true }) }
}

type AssetKey = Pick<HoldingCandidate, 'contract' | 'tokenId'>

/** Compares in the order of everything listed; an item without a token id comes first. Addresses are lower-case hex of one length, so text order is number order. */
export function byContractThenId(a: AssetKey, b: AssetKey): number {
  if (a.contract !== b.contract) return a.contract < b.contract ? -1 : 1
  const [idA, idB] = [a.tokenId ?? -1n, b.tokenId ?? -1n]
  return idA < idB ? -1 : idA > idB ? 1 : 0
}
