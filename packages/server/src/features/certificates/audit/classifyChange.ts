import type { Address } from '@chain-data/index'
import type { AccountState, TokenName } from './accountState.ts'
import { tokenChange } from './changes.ts'
import type { FollowedChange } from './followDifference.ts'

/** The reason why a balance is not the sum of its transfers; see `DifferenceExplanation` in spec/openrpc.json. */
export type Explanation =
  | 'rebasing'
  | 'fee'
  | 'unlogged-mint'
  | 'unlogged-burn'
  | 'logs-lie'
  | 'wrapped-by-others'
  | 'mint-and-burn'
  | 'no-balance'

/**
 * Classifies the contract that changed a balance as it did in this block, in which the index lacks nothing.
 * @returns `undefined`: nothing that is known.
 */
export async function classifyChange(
  state: Pick<AccountState, 'balanceAt' | 'supplyAt'>,
  account: Address,
  token: TokenName,
  { height, examination }: FollowedChange
): Promise<Explanation | undefined> {
  const { block } = examination
  if (block === undefined) return undefined
  const [before, after] = await state.balanceAt(token, [height - 1, height])
  if (after?.kind !== 'read') return undefined
  const change = after.amount - (before?.kind === 'read' ? before.amount : 0n)
  const transfers = block.transactions.flatMap(transaction => transaction.transfers ?? [])
  const { logged, wrapped } = tokenChange(transfers, token, account)
  if (wrapped !== 0n && (change === logged || change === logged + wrapped)) return 'wrapped-by-others'
  if (logged === 0n && wrapped === 0n) return classifyUnlogged(state, token, height, change)
  return isFee(logged, change) ? 'fee' : 'logs-lie'
}

/** Less came than was logged, or more went. */
function isFee(logged: bigint, change: bigint): boolean {
  return change < logged && (logged > 0n ? change > 0n : logged < 0n)
}

async function classifyUnlogged(
  state: Pick<AccountState, 'supplyAt'>,
  token: TokenName,
  height: number,
  change: bigint
): Promise<Explanation> {
  const [before, after] =
    token.standard === 'erc20' ? await state.supplyAt(token.contract, [height - 1, height]) : []
  if (before?.kind !== 'read' || after?.kind !== 'read') return 'logs-lie'
  const supplyChange = after.amount - before.amount
  if (supplyChange === 0n) return 'logs-lie'
  if (supplyChange !== change) return 'rebasing'
  return change > 0n ? 'unlogged-mint' : 'unlogged-burn'
}
