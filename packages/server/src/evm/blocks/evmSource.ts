import type { BlockRef, Hash } from '@chain-data/index'
import { type BlockRows, encodeBlock } from '@chain-data/index/record'
import { includeHeader, type RootVerification } from '../../model/rootParts.ts'
import type { TraceMode } from '../../model/traceMode.ts'
import type { Waiver } from '../../model/waivableChecks.ts'
import type { NodeOutcome, PostedBatch } from '../../nodes/evm/nodeCall.ts'
import { isAbsent, readObject, smallQuantity } from '../../nodes/evm/rawFields.ts'
import type { EvmUpstreams } from '../../nodes/evm/rpc.ts'
import type { WebSocketHeads } from '../../nodes/evm/webSocketHeads.ts'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { unlessAborted } from '../../platform/concurrency/deadline.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { BlockAuthorizations } from './authorizations.ts'
import { type FetchOptions, fetchBlock, fetchBlockRef, knowsBlock, readBlockRef } from './blocks.ts'
import { type AskForNonces, createAuthorizationReader } from './createAuthorizationReader.ts'
import type { BlockAnswer, DecodedBlock } from './createBlockDecoder.ts'
import { findOldestBlock } from './findOldestBlock.ts'
import { type NormalizedBlock, normalizeBlock } from './normalize.ts'
import { type DecodedRows, toRows } from './readBlock.ts'
import { createRootChecks, type RootChecks } from './roots/createRootChecks.ts'
import { type GivenBlock, settleDispute } from './settleDispute.ts'
import { createTracing } from './traces/createTracing.ts'
import { createWaivers, isZeroHash } from './verification/contradiction.ts'
import type { VerifiedBlock } from './verification/verifiedBlock.ts'

/** Source of a chain's verified blocks, in the form that the indexer stores. */
export interface EvmSource {
  /**
   * Reads which chain the node serves.
   * @returns `chainId` is exact also beyond 2^53.
   */
  identity(signal?: AbortSignal): Promise<{ readonly chainId: bigint; readonly genesisHash: Hash }>
  /** Reads the node's newest block and the height of the newest final one. */
  head(signal?: AbortSignal): Promise<ChainHead>
  /**
   * Reads and verifies the block at a height, as it is stored. Final blocks come from all nodes, each at its own pace.
   * @param onSize - gets the size of each answer of a node in bytes.
   * @throws {NodeContradictionError} when its parts disagree, or the node does not have it (yet).
   * @throws {StoreError} when one of its values cannot be stored.
   */
  block(number: number, signal?: AbortSignal, onSize?: (bytes: number) => void): Promise<BlockRows>
  /** Returns the final blocks that the nodes take at the same time; absent: any number. */
  room?(): number
  /**
   * Finds out which nodes are wrong where a block does not fit to its parent, and puts them aside; absent: nobody asks.
   * @param number - of the block whose parent is another one.
   * @returns the lowest block that came from such a node and that no other node confirms; absent: none is wrong.
   */
  settleDispute?(number: number, signal?: AbortSignal): Promise<number | undefined>
  /** Reads the hash of the node's canonical block at a height; absent when it has none there. */
  blockRef(number: number, signal?: AbortSignal): Promise<BlockRef | undefined>
  /** Reports whether the node still has this block, canonical or not. */
  knowsBlock(hash: Hash, signal?: AbortSignal): Promise<boolean>
  /**
   * Finds the oldest block that the node still has with its receipts; 0: it has all.
   * @param head - the newest block.
   */
  oldestBlock(head: number, signal?: AbortSignal): Promise<number>
  /** Waits for an announcement of a new block; absent without WebSockets. */
  waitForHead?(pauseMs: number, signal: AbortSignal): Promise<void>
}

export interface EvmSourceOptions {
  readonly rpc: EvmUpstreams
  /** Absent: nothing announces new blocks. */
  readonly heads?: WebSocketHeads
  /**
   * Depth from which a block counts as final: a number of blocks, or `auto` for the node's `finalized` tag and 64 blocks
   * where it has none.
   */
  readonly finality: 'auto' | number
  /** Checks that blocks of this chain may break; absent: none. */
  readonly waivers?: readonly Waiver[]
  /** Blocks that are held against their headers; absent: none. Without a call of `head`, each counts as near the head. */
  readonly roots?: RootVerification | undefined
  /** A development chain, whose node may leave out the parent of a block; default false. */
  readonly dev?: boolean
  /** Whether blocks are read with their traces; default `off`. */
  readonly traces?: TraceMode
  /**
   * Decodes untraced final blocks that are not near the head in another thread; absent: all are decoded here.
   * @returns the answer, where it is to be read here.
   */
  readonly decode?:
    | ((answer: BlockAnswer, askForNonces: AskForNonces) => Promise<DecodedBlock | BlockAnswer>)
    | undefined
  readonly logger?: Logger
}

/** More than are fetched ahead and gathered. */
const maxGiven = 4_096
/** Depth that `auto` assumes when a node names no final block: two epochs of Ethereum's proof of stake. */
const assumedFinality = 64

export function createEvmSource(options: EvmSourceOptions): EvmSource {
  const { rpc, heads, finality, waivers = [], traces = 'off', roots, decode, logger } = options
  const allowed = createWaivers(waivers, logger)
  const addTraces =
    traces === 'off' ? undefined : createTracing({ rpc, mode: traces, ...(logger ? { logger } : {}) })
  const authorizationReader = createAuthorizationReader(rpc)
  /** The last answer of `head`. */
  let newest: ChainHead | undefined
  const isFinal = (number: number) => newest?.finalized !== undefined && number <= newest.finalized
  /** The last block was empty: a call for the receipts of the next one, which providers charge for, may be in vain. */
  let areEmpty = false
  /** The latest final blocks, as they were given. */
  const given = new BoundedMap<number, GivenBlock>(maxGiven)
  let rootChecks: Promise<RootChecks> | undefined
  const rootChecksOf = (number: number) => {
    if (roots === undefined || (roots.blocks === 'head' && !isNew(number, newest))) return undefined
    rootChecks ??= createRootChecks(roots)
    return rootChecks
  }

  async function decodeElsewhere(
    decodeAnswer: NonNullable<EvmSourceOptions['decode']>,
    number: number,
    { ids, answer }: PostedBatch,
    signal: AbortSignal | undefined
  ): Promise<{ readonly decoded: DecodedRows } | PostedBatch> {
    const decoding = decodeAnswer({ number, ids, body: answer.body }, (block, authorities) =>
      authorizationReader.nonces(block, authorities, signal)
    )
    const decoded = await (signal ? unlessAborted(decoding, signal) : decoding)
    if ('body' in decoded) return { ids, answer: { ...answer, body: decoded.body } }
    // For the log.
    for (const check of decoded.waived) allowed.passes(check, number)
    return { decoded }
  }

  return {
    async identity(signal) {
      const { chainId, genesisHash } = await rpc.identity(signal)
      if (genesisHash === undefined) throw new NodeContradictionError('block 0: the node does not have it')
      return { chainId, genesisHash }
    },

    async head(signal) {
      const tags = finality === 'auto' ? ['latest', 'finalized'] : ['latest']
      const head: unknown = await rpc.batch(
        tags.map(tag => ({ method: 'eth_getBlockByNumber', params: [tag, false] })),
        {
          read: outcomes => readHead(outcomes as readonly NodeOutcome[], finality),
          timeoutMs: rpc.pollTimeoutMs,
          ...(signal ? { signal } : {})
        }
      )
      newest = head as ChainHead
      authorizationReader.sawHead(newest.head.number)
      return newest
    },

    async block(number, signal, onSize) {
      const checks = await rootChecksOf(number)
      const hasVerifiedRoots = checks !== undefined && includeHeader(roots?.parts ?? [])
      const read = (verified: VerifiedBlock, authorizations?: BlockAuthorizations): FetchedBlock =>
        addTraces === undefined
          ? toRows(verified, authorizations, hasVerifiedRoots)
          : { ...normalizeBlock(verified, authorizations), mayReward: mayReward(verified) }
      const fetchOptions: FetchOptions<FetchedBlock> = {
        ...{ signal, authorizationReader, isFinal: isFinal(number) },
        isTogether: isFinal(number) && !areEmpty,
        // One block at a time is read sooner in this thread.
        ...(decode && addTraces === undefined && !isNew(number, newest)
          ? { decode: posted => decodeElsewhere(decode, number, posted, signal) }
          : {}),
        ...(onSize ? { onSize } : {}),
        onGiver(giver, fetched) {
          const { ref, parentHash } = 'rows' in fetched ? fetched.rows : fetched.block
          areEmpty = ('rows' in fetched ? fetched.rows.ids : fetched.block.transactions).length === 0
          given.set(number, { giver, hash: ref.hash, parentHash })
        }
      }
      const fetched = await fetchBlock(rpc, number, read, { waivers: allowed, roots: checks }, fetchOptions)
      const { ignoredLogs } = fetched
      if (ignoredLogs > 0)
        logger?.debug('ignored logs that only look like transfers', {
          blockNumber: number,
          count: ignoredLogs
        })
      if ('rows' in fetched) return withParent(fetched.rows, options, signal)
      const isVerified = hasVerifiedRoots && fetched.block.unknown === undefined
      const linked = await withParent({ ...fetched.block, hasVerifiedRoots: isVerified }, options, signal)
      return encodeBlock((await addTraces?.(linked, fetched.mayReward, signal)) ?? linked)
    },

    room: rpc.room,

    async settleDispute(number, signal) {
      // Before blocks are final, nodes may differ in good faith.
      if (!isFinal(number)) return undefined
      const [lower, upper] = [given.get(number - 1), given.get(number)]
      const wrong = await settleDispute(rpc, number, { lower, upper }, signal)
      const isFromWrong = (height: number) => wrong.has(given.get(height)?.giver.name ?? '')
      if (wrong.size === 0) return undefined
      let lowest = isFromWrong(number - 1) ? number - 1 : number
      while (isFromWrong(lowest - 1)) lowest--
      return lowest
    },

    blockRef: (number, signal) => fetchBlockRef(rpc, number, signal),
    knowsBlock: (hash, signal) => knowsBlock(rpc, hash, signal),
    oldestBlock: (head, signal) =>
      rpc.onOneNode('oldest block', node => findOldestBlock(node, head), signal ? { signal } : {}),
    ...(heads ? { waitForHead: heads.wait } : {})
  }
}

/** A block in its stored form, or one that still needs its traces. */
type FetchedBlock = DecodedRows | (NormalizedBlock & { readonly mayReward: boolean })

/** Names the parent of a block where hardhat left it out, as it does in blocks that `hardhat_mine` makes many of. */
async function withParent<T extends Pick<VerifiedBlock, 'ref' | 'parentHash'>>(
  block: T,
  { rpc, dev = false }: EvmSourceOptions,
  signal: AbortSignal | undefined
): Promise<T> {
  if (!dev || block.ref.number === 0 || !isZeroHash(block.parentHash)) return block
  const parent = await fetchBlockRef(rpc, block.ref.number - 1, signal)
  return parent === undefined ? block : { ...block, parentHash: parent.hash }
}

/** Reports whether the block is of proof of work, which pays a reward for empty blocks too. */
function mayReward({ raw: { difficulty } }: VerifiedBlock): boolean {
  return !isAbsent(difficulty) && !/^(0x)?0*$/i.test(String(difficulty))
}

/** Reports whether a block may still be followed as it comes: it is not final, or it is not deep in the chain. */
function isNew(number: number, newest: ChainHead | undefined): boolean {
  if (newest?.finalized === undefined) return true
  return number > Math.min(newest.finalized, newest.head.number - assumedFinality)
}

interface ChainHead {
  readonly head: BlockRef
  /** Timestamp of that block, in Unix seconds; absent where the node names none that can be read. */
  readonly timestampSeconds?: number
  readonly finalized?: number
}

/** Reads the newest and the final block. @throws {NodeContradictionError} the newest block is missing or malformed. */
function readHead([latest, final]: readonly NodeOutcome[], finality: 'auto' | number): ChainHead {
  if (latest === undefined || !latest.ok) throw latest?.error ?? new NodeContradictionError('no latest block')
  const head = readBlockRef(latest.value, 'latest block')
  if (head === undefined) throw new NodeContradictionError('the node has no latest block')
  // An error about the tag and null mean the same: the node names no final block.
  const named = final?.ok ? readBlockRef(final.value, 'finalized block')?.number : undefined
  const depth = finality === 'auto' ? assumedFinality : finality
  const finalized = named ?? head.number - depth
  const timestampSeconds = smallQuantity(readObject(latest.value, 'latest block').timestamp)
  return {
    head,
    ...(timestampSeconds === undefined ? {} : { timestampSeconds }),
    ...(finalized < 0 ? {} : { finalized: Math.min(finalized, head.number) })
  }
}
