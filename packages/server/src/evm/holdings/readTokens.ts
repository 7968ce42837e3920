import type { Address } from '../../model/evm.ts'
import type { Multicall } from '../state/multicall.ts'
import type { ContractFactsReader } from './contractFacts.ts'
import {
  contractsOf,
  type HeldToken,
  type IncompleteHolding,
  labelOf,
  type OwnedCandidate
} from './heldAssets.ts'

/**
 * What is listed of the ERC-20 candidates.
 * @param listed - contracts that the caller asked for: they appear with 0 too.
 * @param nftContracts - contracts that logged NFTs of this owner.
 * @see EvmHoldings.readHoldings for the rules
 */
export async function readTokens(
  multicall: Multicall,
  contractFacts: ContractFactsReader,
  owned: readonly OwnedCandidate[],
  listed: ReadonlySet<Address>,
  nftContracts: ReadonlySet<Address>
): Promise<{ readonly tokens: readonly HeldToken[]; readonly incomplete: readonly IncompleteHolding[] }> {
  const open = owned.filter(({ contract, ownership }) => ownership.kind !== 'none' || listed.has(contract))
  const facts = await contractFacts.read(multicall, contractsOf(open), ['decimals'])
  const guessed = open.filter(({ origin }) => origin === 'filter')
  const interfaces = await contractFacts.read(multicall, contractsOf(guessed), ['isErc721', 'isErc1155'])

  const kept: { readonly address: Address; readonly amount: bigint; readonly decimals: number }[] = []
  const incomplete: IncompleteHolding[] = []
  for (const { contract: address, origin, ownership } of open) {
    const decimals = facts.get(address)?.decimals
    const { isErc721, isErc1155 } = interfaces.get(address) ?? {}
    if (isErc721 || isErc1155) continue
    if (ownership.kind === 'silent') {
      if (decimals !== undefined) incomplete.push({ address, reason: 'BALANCE_UNREADABLE' })
    } else if (ownership.kind === 'unreadable') {
      incomplete.push({ address, reason: 'BALANCE_UNREADABLE' })
    } else if (decimals !== undefined) {
      kept.push({ address, amount: ownership.kind === 'held' ? ownership.amount : 0n, decimals })
    } else if (!nftContracts.has(address) && (origin === 'log' || ownership.kind === 'held')) {
      // A collection counts its tokens through `balanceOf` too; only its logs tell it from a token without decimals.
      incomplete.push({ address, reason: 'DECIMALS_UNREADABLE' })
    }
  }
  const labels = await contractFacts.read(
    multicall,
    kept.map(({ address }) => address),
    ['name', 'symbol']
  )
  return { tokens: kept.map(token => ({ ...token, ...labelOf(labels.get(token.address)) })), incomplete }
}
