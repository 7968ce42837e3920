import type { SolanaCallOptions } from '../../../nodes/solana/nodes.ts'
import { NodeRpcError } from '../../../platform/errors.ts'
import type { Gap } from './checkContinuity.ts'
import type { HistoryCache } from './HistoryCache.ts'
import type { SolanaHistoryRpc } from './historyRpc.ts'

/** Lamports that keep an account without data free of rent. */
const rentExempt = 890_880n
/** Epochs that are asked for rewards in one gap: some weeks. */
const maxEpochs = 16

/**
 * Recognises what moves lamports without a transaction: rent, taken from accounts with too little until 2025, and staking and voting
 * rewards of exactly the difference.
 * @param deps.finalSlot - Transactions up to this slot are final: a reward between two of them is kept.
 * @remarks Up to 18 calls for each gap of lamports; none without one, and none for a reward that is kept.
 */
export async function explainGaps(
  gaps: readonly Gap[],
  wallet: string,
  deps: GapDeps
): Promise<readonly Gap[]> {
  const explained: Gap[] = []
  for (const gap of gaps) {
    const isLamports = gap.account === wallet && gap.cause === 'missing' && gap.older !== undefined
    explained.push(isLamports ? { ...gap, cause: await recall(gap, wallet, deps) } : gap)
  }
  return explained
}

interface GapDeps {
  readonly rpc: SolanaHistoryRpc
  readonly cache: HistoryCache
  readonly finalSlot: number
  readonly options: SolanaCallOptions
}

async function recall(gap: Gap, wallet: string, deps: GapDeps): Promise<Gap['cause']> {
  const { older, newer } = gap
  const { rpc, cache, finalSlot, options } = deps
  const name = `reward:${wallet}:${older?.transaction.signature}:${newer?.transaction.signature}`
  if ((await cache.read('lists', [name])).size > 0) return 'reward'
  const cause = await causeOf(gap, wallet, rpc, options)
  const isFinal = newer !== undefined && newer.transaction.slot <= finalSlot
  if (cause === 'reward' && isFinal) cache.save('lists', name, true)
  return cause
}

async function causeOf(
  { older, newer, post, pre }: Gap,
  wallet: string,
  rpc: SolanaHistoryRpc,
  options: SolanaCallOptions
): Promise<Gap['cause']> {
  const difference = BigInt(pre) - BigInt(post)
  if (difference < 0n) return BigInt(post) < rentExempt ? 'rent' : 'missing'
  const fromSlot = older?.transaction.slot ?? 0
  const rewards = await readRewards(rpc, wallet, fromSlot, newer?.transaction.slot, options)
  return rewards === difference ? 'reward' : 'missing'
}

/** @returns the sum of the rewards paid after one slot and before another; 0 where no node knows them. */
async function readRewards(
  rpc: SolanaHistoryRpc,
  wallet: string,
  fromSlot: number,
  toSlot: number | undefined,
  options: SolanaCallOptions
): Promise<bigint> {
  try {
    const schedule = (await rpc.call('getEpochSchedule', [], options)) as {
      readonly slotsPerEpoch: number
      readonly firstNormalEpoch: number
      readonly firstNormalSlot: number
    }
    const { slotsPerEpoch, firstNormalEpoch, firstNormalSlot } = schedule
    const epochOf = (slot: number) =>
      Math.max(0, firstNormalEpoch + Math.floor((slot - firstNormalSlot) / slotsPerEpoch))
    const first = epochOf(fromSlot)
    const last = toSlot === undefined ? first + 1 : epochOf(toSlot)
    let sum = 0n
    for (let epoch = Math.max(0, first - 1); epoch <= Math.min(last, first + maxEpochs); epoch++) {
      const [reward] = (await rpc.call('getInflationReward', [[wallet], { epoch }], options)) as readonly ({
        readonly amount: number | bigint
        readonly effectiveSlot: number
      } | null)[]
      const isInside =
        reward != null &&
        reward.effectiveSlot > fromSlot &&
        (toSlot === undefined || reward.effectiveSlot <= toSlot)
      if (isInside) sum += BigInt(reward.amount)
    }
    return sum
  } catch (error) {
    if (error instanceof NodeRpcError) return 0n
    throw error
  }
}
