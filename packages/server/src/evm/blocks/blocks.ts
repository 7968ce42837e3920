import type { BlockRef, Hash } from '@chain-data/index'
import type { EvmNode, PostedBatch } from '../../nodes/evm/nodeCall.ts'
import { readCount, readHash, readObject, toQuantity } from '../../nodes/evm/rawFields.ts'
import type { EvmRpc, EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { isAnswerTooLarge, isMethodMissing, messageKindOf } from '../../nodes/upstreams/errorWords.ts'
import { AbsentAnswer } from '../../nodes/upstreams/work.ts'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import type { AuthorizationReader } from './createAuthorizationReader.ts'
import { type FetchChecks, type ReadVerified, readBlock } from './readBlock.ts'
import { BrokenChecksError } from './verification/blockChecks.ts'
import { contradiction, type Waivers, withoutUnknown } from './verification/contradiction.ts'
import type { VerifiedHeader } from './verification/verifiedBlock.ts'

/** How a block is fetched. */
export interface FetchOptions<T> {
  readonly signal?: AbortSignal | undefined
  readonly authorizationReader?: AuthorizationReader
  /** No reorg replaces the block any more, so that any node that has room is asked. Otherwise the preferred one is, first. */
  readonly isFinal?: boolean
  /** A final block is asked for together with its receipts, by its height. Otherwise these are asked for by its hash. */
  readonly isTogether?: boolean
  /**
   * Reads a block and receipts that came in one answer in another thread; absent: all is read here.
   * @returns the answer, where it has to be read here: it is not as expected, or the block is refused.
   */
  decode?(posted: PostedBatch): Promise<{ readonly decoded: T } | PostedBatch>
  /** Gets the size of each answer in bytes. */
  onSize?(bytes: number): void
  /** Gets the node that gave the block, before the block is returned. */
  onGiver?(giver: EvmNode, block: T): void
}

/**
 * Reads the block at a height and its receipts from one node, and verifies that they belong together. Only what no node gives
 * sound counts as unknown, where waivers allow it.
 * @throws {BrokenChecksError} the block breaks waivable checks on every upstream; it lists those of header and receipts.
 * @throws {NodeContradictionError} when the parts disagree on every upstream, or none has the block (yet).
 * @remarks Two requests, or one where `isTogether` or the block is empty; a batch of one call per transaction more on
 *   nodes without `eth_getBlockReceipts`, and of one per receipt that is lacking before it counts as unknown.
 */
export async function fetchBlock<T>(
  rpc: EvmUpstreams,
  number: number,
  read: ReadVerified<T>,
  checks: FetchChecks,
  options: FetchOptions<T> = {}
): Promise<T> {
  const { signal, authorizationReader, isFinal = false, isTogether = false, onSize, decode } = options
  let broken: VerifiedHeader['broken'] = []
  let allowed = { ...checks, waivers: withoutUnknown(checks.waivers) }

  async function ask(node: EvmNode): Promise<T> {
    const given = isTogether
      ? await fetchTogether(node, number, onSize, decode)
      : { block: await fetchRaw(node, number, onSize) }
    if ('decoded' in given) return given.decoded
    if (given.block === null) {
      // Another node may have it.
      throw new AbsentAnswer(() => {
        throw contradiction(number, 'the node does not have it', true)
      })
    }
    return readBlock(given.block, number, read, allowed, {
      async receipts(header) {
        if (broken.length === 0) broken = header.broken
        const listed = given.receipts ?? (await fetchReceipts(node, header, onSize))
        if (listed === undefined) return fetchEach(node, header.transactions, onSize)
        return allowed === checks ? addLacking(node, header, listed, onSize) : listed
      },
      ...(authorizationReader && {
        authorizations: (header: VerifiedHeader) => authorizationReader.read(header, signal)
      })
    })
  }

  async function askAndName(node: EvmNode): Promise<T> {
    const block = await ask(node)
    options.onGiver?.(node, block)
    return block
  }

  const limits = { height: number, isShared: isFinal, ...(signal ? { signal } : {}) }
  try {
    return await rpc.onOneNode('block', askAndName, limits)
  } catch (error) {
    if (error instanceof NodeContradictionError && mayBeUnknown(error, number, checks.waivers)) {
      allowed = checks
      return await rpc.onOneNode('block', askAndName, limits)
    }
    // Without receipts the list of broken checks stays as short as the header has made it.
    if (broken.length > 0 && !(error instanceof NodeContradictionError))
      throw new BrokenChecksError(number, broken)
    throw error
  }
}

/** Reports whether waivers let everything that no node gave sound count as unknown. */
function mayBeUnknown(error: NodeContradictionError, number: number, waivers: Waivers): boolean {
  const needed =
    error instanceof BrokenChecksError ? error.broken.map(({ check }) => check) : (['unknownBlock'] as const)
  return !error.context.ofRoot && needed.every(check => waivers.passes(check, number))
}

/** Reports whether a block failed because the node lacks it or its receipts: it lags, or has pruned them. */
export function lacksBlock(error: unknown): boolean {
  if (error instanceof NodeRpcError) return messageKindOf(error) === 'missingData'
  return error instanceof NodeContradictionError && error.context.isMissing === true
}

/** Called with the size of each answer in bytes. */
type OnSize = ((bytes: number) => void) | undefined

const blockCall = (number: number) => ({ method: 'eth_getBlockByNumber', params: [toQuantity(number), true] })

const fetchRaw = (node: EvmNode, number: number, onSize: OnSize) => node.request(blockCall(number), onSize)

/** A block that came in one answer with its receipts. */
type Together<T> = { readonly decoded: T } | { readonly block: unknown; readonly receipts?: unknown }

/**
 * Reads a block and its receipts in one request.
 * @returns no receipts where the node refused to give them this way, or had none.
 */
async function fetchTogether<T>(
  node: EvmNode,
  number: number,
  onSize: OnSize,
  decode: FetchOptions<T>['decode']
): Promise<Together<T>> {
  const method = 'eth_getBlockReceipts'
  const calls = [blockCall(number), { method, params: [toQuantity(number)] }]
  const given = await node.attempt(method, async () => {
    const posted = decode && (await node.post(calls, onSize))
    const read = posted && (await decode?.(posted))
    if (read !== undefined && 'decoded' in read) return read
    const [block, receipts] = await node.batch(calls, undefined, onSize, read)
    if (receipts?.ok === false && isMethodMissing(receipts.error)) throw receipts.error
    return { block, receipts }
  })
  if (given === undefined) return { block: await fetchRaw(node, number, onSize) }
  if ('decoded' in given) return given
  const { block, receipts } = given
  if (!block?.ok) throw block?.error
  return { block: block.value, ...(receipts?.ok && receipts.value !== null && { receipts: receipts.value }) }
}

/**
 * Reads receipts by block hash, since a height may name another block after a reorg.
 * @returns `undefined` where the node does not offer that, or all of them are too large for one answer.
 */
function fetchReceipts(node: EvmNode, { ref }: VerifiedHeader, onSize: OnSize): Promise<unknown> {
  return node.attempt('eth_getBlockReceipts', async () => {
    try {
      return await node.request({ method: 'eth_getBlockReceipts', params: [ref.hash] }, onSize)
    } catch (error) {
      if (isAnswerTooLarge(error)) return undefined
      // Some nodes have the method but take heights only, which would not bind the receipts to this block.
      if (error instanceof NodeRpcError && error.rpcCode === -32602 && !isMethodMissing(error)) {
        throw new NodeRpcError(`${error.message}: not by hash`, -32601, error.rpcData, error.context)
      }
      throw error
    }
  })
}

/** Reads receipts one by one; null for one that the node does not have. */
async function fetchEach(
  node: EvmNode,
  transactions: VerifiedHeader['transactions'],
  onSize: OnSize
): Promise<readonly unknown[]> {
  const calls = transactions.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  const outcomes = await node.batch(calls, undefined, onSize)
  return outcomes.map(outcome => {
    if (outcome.ok) return outcome.value
    throw outcome.error
  })
}

/**
 * Asks for the receipts that a list lacks. Some nodes leave out receipts that they have (Cronos, block 68,216), and the receipt
 * of a transaction that two blocks list names the one it ran in.
 * @returns the list with what was found, in the order of the block.
 */
async function addLacking(
  node: EvmNode,
  { transactions }: VerifiedHeader,
  listed: unknown,
  onSize: OnSize
): Promise<unknown> {
  if (!Array.isArray(listed)) return listed
  const receipts: unknown[] = listed.filter(receipt => receipt !== null)
  const indexOf = (hash: Hash) =>
    receipts.findIndex(
      receipt => (receipt as { readonly transactionHash?: unknown }).transactionHash === hash
    )
  const lacking = transactions.filter(({ hash }) => indexOf(hash) < 0)
  if (lacking.length === 0) return listed
  const found = await fetchEach(node, lacking, onSize)
  const single = new Map(lacking.map(({ hash }, i) => [hash, found[i]]))
  let next = 0
  for (const { hash } of transactions) {
    const receipt = single.get(hash) ?? null
    if (!single.has(hash)) next = indexOf(hash) + 1
    else if (receipt !== null) receipts.splice(next++, 0, receipt)
  }
  return receipts
}

/** Reads the hash of the chain's block at a height; absent when no upstream has a block there. */
export async function fetchBlockRef(
  rpc: EvmRpc,
  number: number,
  signal?: AbortSignal
): Promise<BlockRef | undefined> {
  const call = { method: 'eth_getBlockByNumber', params: [toQuantity(number), false] }
  const read = (raw: unknown) => {
    const ref = readBlockRef(raw, `block ${number}`)
    if (ref !== undefined && ref.number !== number) {
      throw new NodeContradictionError(`block ${number}: the node answered block ${ref.number}`, { number })
    }
    return ref
  }
  return (await rpc.request(call, { read, ...(signal ? { signal } : {}) })) as BlockRef | undefined
}

/** Reports whether any upstream still has this block, canonical or not. */
export async function knowsBlock(rpc: EvmRpc, hash: Hash, signal?: AbortSignal): Promise<boolean> {
  const call = { method: 'eth_getBlockByHash', params: [hash, false] }
  return (await rpc.request(call, signal ? { signal } : {})) !== null
}

/** Reads the height and hash of a block. @returns `undefined` for null, with which a node says that it has no such block. */
export function readBlockRef(raw: unknown, what: string): BlockRef | undefined {
  if (raw === null) return undefined
  const { number, hash } = readObject(raw, what)
  return { number: readCount(number, `${what}: number`), hash: readHash(hash, `${what}: hash`) }
}
