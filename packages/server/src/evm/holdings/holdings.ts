import type { Address, HoldingCandidate } from '@chain-data/index'
import type { EvmNode, NodeCallOptions } from '../../nodes/evm/nodeCall.ts'
import type { EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { NodeUnavailableError } from '../../platform/errors.ts'
import type { StrategyName } from '../state/findStrategies.ts'
import { createMulticall } from '../state/multicall.ts'
import { type BlockAt, BlockLostError, confirmPinned, pinBlock, readLatestBlock } from '../state/pinBlock.ts'
import { createFactsMemory } from './contractFacts.ts'
import { byContractThenId, isRange, type WantedCandidate } from './heldAssets.ts'
import { readAccountName } from './readAccountName.ts'
import { type FoundAssets, readContracts } from './readContracts.ts'

/** The holdings of one account at one block. Lists are ordered by contract, then token id. */
export interface EvmHoldingsAtBlock extends FoundAssets {
  readonly asOf: BlockAt
  readonly nativeWei: bigint
  /** The account's primary name. Absent where it has none, where it could not be read, and where a filter is given. */
  readonly name?: string
}

export interface HoldingsRequest {
  readonly address: Address
  /** Hints, in any order; those of other owners are skipped. They are read to the end before the first node call. */
  readonly candidates: AsyncIterable<readonly HoldingCandidate[]> | Iterable<HoldingCandidate>
  /** Only these contracts, lower case; absent or empty: all. ERC-20 contracts in it are read even without a candidate. */
  readonly filter?: readonly Address[]
  /** The block up to which the candidates are complete. State is read there; absent: at the node's latest block. */
  readonly at?: BlockAt
  /**
   * Grows with each reorg that the candidates' index has seen. Facts of contracts are remembered per branch; absent: not at
   * all.
   */
  readonly branch?: number
  readonly signal?: AbortSignal
  /** `Date.now()` by which all must be done. */
  readonly deadlineMs?: number
}

/** Reads balances and owners from state; logs only name the candidates. */
export interface EvmHoldings {
  /**
   * Everything in the answer is read at one block of one upstream. One that does not have the block, loses it, fails or
   * contradicts itself is left for another, which begins anew. What a contract does wrong stays its own trouble:
   *
   * | the contract | outcome |
   * |---|---|
   * | balance is zero, or the owner is another account | left out |
   * | `ownerOf` reverts | left out: the token does not exist (EIP-721) |
   * | has no code (any more) | left out |
   * | does not answer (reverts, returns nothing), and `decimals` or ERC-165 do not speak for a token | left out |
   * | does not answer, but they do | incomplete, BALANCE_UNREADABLE or OWNER_UNREADABLE |
   * | loops, invalid code, short or huge return, dirty address, no answer in time, or no time left to ask | incomplete, the same |
   * | ERC-20 with a balance, or listed in `filter`, without `decimals` or with one above 255 | incomplete, DECIMALS_UNREADABLE |
   * | logged ranges of ERC-721 ids, and the owner may hold ids in them that were not read | incomplete, RANGE_NOT_READ |
   * | name or symbol broken | listed with "" |
   * | has no token URI (reverts, returns nothing) | listed with "" |
   * | token URI loops, is broken or beyond 512 KiB, or all together beyond 32 MiB | listed with "", and incomplete, TOKEN_URI_UNREADABLE |
   *
   * A contract in `filter` without an ERC-20 candidate counts as ERC-20 when `balanceOf` and `decimals` answer and
   * ERC-165 does not say that it is ERC-721 or ERC-1155. Precompiled functions in `filter` are not asked.
   *
   * @throws {BlockLostError} no upstream reads the block `at`: the candidates belong to another branch by now, or will soon.
   * @throws {NodeUnavailableError} the node failed, was too slow, or did not hold still for one block. Never a
   *   partial answer.
   * @throws the signal's reason when aborted.
   * @remarks One read per candidate (ranges: see `expandRanges`), up to three more per contract and one per NFT, hundreds
   *   of them in one call where the node allows it (`createMulticall`). Memory grows with the candidates. The name of the
   *   account takes one call more, or three (`readAccountName`).
   */
  readHoldings(request: HoldingsRequest): Promise<EvmHoldingsAtBlock>
}

export interface EvmHoldingsOptions {
  readonly rpc: Pick<EvmUpstreams, 'onOneNode'>
  readonly chainId: number
  /** Registry that names of accounts are read from; absent: they are not read. */
  readonly ensRegistry?: Address | undefined
  /** The strategies by which many reads may travel; all. */
  readonly strategies?: readonly StrategyName[]
  /** Bound on one exchange of many reads; 3 s. */
  readonly exchangeTimeoutMs?: number
}

const attempts = 3

export function createEvmHoldings(options: EvmHoldingsOptions): EvmHoldings {
  const { rpc, chainId, ensRegistry } = options
  const openFacts = createFactsMemory()

  async function readSnapshot(
    node: EvmNode,
    { address, at, branch, deadlineMs }: HoldingsRequest,
    candidates: readonly WantedCandidate[],
    listed: ReadonlySet<Address>
  ): Promise<EvmHoldingsAtBlock> {
    const block = at ?? (await readLatestBlock(node))
    const { pinned, nativeWei } = await pinBlock(node, block, address)
    const registry = listed.size === 0 ? ensRegistry : undefined
    if (candidates.length === 0 && registry === undefined) {
      await confirmPinned(node, pinned)
      return { asOf: block, nativeWei, tokens: [], nfts: [], incomplete: [] }
    }
    const multicall = createMulticall({ ...options, node, block: pinned, deadlineMs })
    const contractFacts = openFacts(branch)
    const [found, named] = await Promise.all([
      readContracts(multicall, contractFacts, candidates, listed, deadlineMs),
      registry && readAccountName(multicall, registry, address)
    ])
    await confirmPinned(node, pinned)
    contractFacts.keep()
    const incomplete = [...found.incomplete, ...(named?.incomplete ?? [])]
    return { asOf: block, nativeWei, ...found, ...named, incomplete }
  }

  return {
    async readHoldings(request) {
      const { at, filter = [], signal, deadlineMs } = request
      const listed = new Set(filter)
      const candidates = await collectCandidates(request, listed)
      let lost: BlockLostError | undefined
      for (let attempt = 0; attempt < attempts; attempt++) {
        const callOptions = nodeCallOptions(chainId, signal, deadlineMs)
        try {
          return await rpc.onOneNode(
            workName(candidates),
            node => readSnapshot(node, request, candidates, listed),
            { ...callOptions, ...(at && { height: at.number }) }
          )
        } catch (error) {
          // Another block would hold what these candidates do not know of.
          if (at !== undefined || !(error instanceof BlockLostError)) throw error
          lost = error
        }
      }
      throw new NodeUnavailableError(
        `chain ${chainId}: no block held still for ${attempts} attempts`,
        { chainId },
        { cause: lost }
      )
    }
  }
}

/**
 * Upstreams compare the time that work of one name takes; so accounts of different sizes must not share a name. How much
 * work a range is shows only while it is done.
 */
function workName(candidates: readonly WantedCandidate[]): string {
  const size = 2 ** Math.ceil(Math.log2(candidates.length + 1))
  return `holdings of up to ${size} candidates${candidates.some(isRange) ? ' and ranges' : ''}`
}

/** @throws {NodeUnavailableError} no time is left. */
function nodeCallOptions(
  chainId: number,
  signal: AbortSignal | undefined,
  deadlineMs: number | undefined
): NodeCallOptions {
  signal?.throwIfAborted()
  const timeoutMs = deadlineMs === undefined ? undefined : deadlineMs - Date.now()
  if (timeoutMs !== undefined && timeoutMs <= 0) {
    throw new NodeUnavailableError(`chain ${chainId}: holdings were not read in time`, { chainId })
  }
  return { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) }
}

/** Each once, those of the listed contracts only, with one ERC-20 candidate for every listed contract; in order. */
async function collectCandidates(
  { address, candidates }: HoldingsRequest,
  listed: ReadonlySet<Address>
): Promise<readonly WantedCandidate[]> {
  const collected = new Map<string, WantedCandidate>()
  const add = (candidate: HoldingCandidate) => {
    const { owner, contract, standard, tokenId, lastTokenId } = candidate
    if (owner !== address || (listed.size > 0 && !listed.has(contract))) return
    if (standard !== 'erc20' && tokenId === undefined) return
    collected.set(`${contract} ${standard} ${tokenId} ${lastTokenId}`, { ...candidate, origin: 'log' })
  }
  if (Symbol.asyncIterator in candidates) {
    for await (const chunk of candidates) chunk.forEach(add)
  } else {
    for (const candidate of candidates) add(candidate)
  }
  for (const contract of listed) {
    const key = `${contract} erc20 undefined undefined`
    if (collected.has(key) || isPrecompile(contract)) continue
    collected.set(key, { owner: address, contract, standard: 'erc20', origin: 'filter' })
  }
  return [...collected.values()].sort(byContractThenId)
}

/**
 * Checks whether an address is one of the first 256, which Ethereum keeps for precompiled functions. They take any call for
 * their input, so what `balanceOf` seems to answer there means nothing.
 *
 * @param address - lower case.
 * @remarks Chains put their own system tokens at higher addresses (`0x…1010`, `0x…800a`); these count as contracts.
 */
function isPrecompile(address: Address): boolean {
  return address.startsWith(`0x${'0'.repeat(38)}`)
}
