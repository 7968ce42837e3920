import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import { UpstreamError } from '../upstreams/upstreamError.ts'
import { AbsentAnswer } from '../upstreams/work.ts'
import { wordCall } from './jsonRpc.ts'
import type { SolanaCallOptions, SolanaNode, SolanaNodes } from './nodes.ts'
import { readAnything } from './readAnswers.ts'

/** A transaction in a list of signatures. */
export interface ListedSignature {
  readonly signature: string
  readonly slot: number
  readonly isFinalized: boolean
}

/** Signatures of one account, newest first, without a gap as far as the node has them. */
interface SignatureList {
  readonly signatures: readonly ListedSignature[]
  /** Present where there are no older ones: the first slot that the node has, or `unknown` where it does not say. */
  readonly end?: number | 'unknown'
}

/** The node calls of a history, over all of a cluster's `rpcUrls`. @throws as `SolanaRpc` does. */
export interface SolanaHistoryRpc {
  /**
   * Lists up to 1,000 signatures that name an account.
   * @param range - `before` and `until` must be signatures of this very account: nodes answer an empty list to others.
   * @remarks One call, and one to see that the node has come to `minContextSlot`. Where the list ends, one more each minute for each node, and where it is empty one to see that the node
   *   knows `before`. A node that has removed more blocks than another is passed over.
   */
  getSignaturesForAddress(
    account: string,
    range: { readonly before?: ListedSignature | undefined; readonly until?: ListedSignature | undefined },
    options: SolanaCallOptions
  ): Promise<SignatureList>
  /** The `result` for a transaction of any version; `undefined` where no node has it. */
  getTransaction<T>(
    signature: string,
    read: (result: unknown) => T,
    options: SolanaCallOptions
  ): Promise<T | undefined>
  /** The signatures of a block in its order; `undefined` where no node has the block. */
  getBlockSignatures(slot: number, options: SolanaCallOptions): Promise<readonly string[] | undefined>
  /** The first slot that any of the nodes has; `undefined` where none says it. */
  getFirstAvailableBlock(options: SolanaCallOptions): Promise<number | undefined>
  /** Any other call; the result unchecked. */
  call(method: string, params: readonly unknown[], options: SolanaCallOptions): Promise<unknown>
  /** Number of calls sent to nodes since the start, by method. */
  calls(): ReadonlyMap<string, number>
}

/** Signatures in one answer: the limit of nodes. */
export const signaturesPerCall = 1_000
/** Nodes remove old blocks all the time. */
const firstBlockForMs = 60_000
const unsupportedVersion = -32015

export interface SolanaHistoryRpcOptions {
  readonly nodes: SolanaNodes
  readonly commitment: 'confirmed' | 'finalized'
}

export function createSolanaHistoryRpc({ nodes, commitment }: SolanaHistoryRpcOptions): SolanaHistoryRpc {
  const firstBlocks = new Map<string, { readonly slot: number | undefined; readonly untilMs: number }>()

  /** By name of the node. */
  const newestSlots = new Map<string, number>()

  const calls = new Map<string, number>()
  const send = async (node: SolanaNode, method: string, params: readonly unknown[]) => {
    calls.set(method, (calls.get(method) ?? 0) + 1)
    return readAnything(await node.send(wordCall(method, params)))
  }

  async function firstBlockOf(node: SolanaNode): Promise<number | undefined> {
    const known = firstBlocks.get(node.name)
    if (known !== undefined && known.untilMs > Date.now()) return known.slot
    const slot = await send(node, 'getFirstAvailableBlock', []).then(
      answer => (Number.isSafeInteger(answer) ? (answer as number) : undefined),
      error => {
        if (error instanceof NodeRpcError) return undefined
        throw error
      }
    )
    firstBlocks.set(node.name, { slot, untilMs: Date.now() + firstBlockForMs })
    return slot
  }

  /** Whether another node is known, or may be found, to have older blocks. */
  function isOutdone(slot: number | undefined): boolean {
    if (slot === 0) return false
    if (firstBlocks.size < nodes.count) return true
    const best = Math.min(...[...firstBlocks.values()].map(each => each.slot ?? Number.POSITIVE_INFINITY))
    return best < (slot ?? Number.POSITIVE_INFINITY)
  }

  return {
    calls: () => calls,

    async getSignaturesForAddress(account, { before, until }, callOptions) {
      const { minContextSlot = 0 } = callOptions
      let best: SignatureList | undefined
      const attempt = async (node: SolanaNode): Promise<SignatureList> => {
        await requireSlot(node, minContextSlot)
        // Not with minContextSlot: some nodes answer an empty list to it.
        const range = { before: before?.signature, until: until?.signature }
        const params = [account, { commitment, limit: signaturesPerCall, ...range }]
        const signatures = readSignatures(await send(node, 'getSignaturesForAddress', params))
        if (signatures.length >= signaturesPerCall) return { signatures }
        if (before !== undefined && signatures.length === 0) await requireKnown(node, before)
        const first = await firstBlockOf(node)
        const list = { signatures, end: first ?? ('unknown' as const) }
        if (nodes.count > 1 && isOutdone(first)) {
          if (best === undefined || isOlder(list.end, best.end)) best = list
          throw new UpstreamError(`${node.name} has removed older blocks`, 'refused')
        }
        return list
      }
      try {
        return await nodes.ask('getSignaturesForAddress', attempt, callOptions)
      } catch (error) {
        callOptions.signal?.throwIfAborted()
        if (best === undefined) throw error
        return best
      }
    },

    getTransaction<T>(signature: string, read: (result: unknown) => T, callOptions: SolanaCallOptions) {
      const attempt = async (node: SolanaNode): Promise<T | undefined> => {
        const ask = (maxSupportedTransactionVersion: number) =>
          send(node, 'getTransaction', [
            signature,
            { commitment, encoding: 'json', maxSupportedTransactionVersion }
          ])
        const answer = await ask(0).catch(error => {
          if (error instanceof NodeRpcError && error.rpcCode === unsupportedVersion) return ask(255)
          throw error
        })
        if (answer === null) throw new AbsentAnswer(() => undefined)
        return read(answer)
      }
      return nodes.ask('getTransaction', attempt, callOptions)
    },

    getBlockSignatures(slot, callOptions) {
      const settings = {
        ...{ commitment, transactionDetails: 'signatures', rewards: false },
        maxSupportedTransactionVersion: 0
      }
      const attempt = async (node: SolanaNode) => {
        const answer = await send(node, 'getBlock', [slot, settings])
        const signatures = (answer as { signatures?: unknown } | null)?.signatures
        if (!Array.isArray(signatures)) throw new AbsentAnswer(() => undefined)
        return signatures.map(String)
      }
      return nodes.ask('getBlock', attempt, callOptions)
    },

    async getFirstAvailableBlock(callOptions) {
      if (firstBlocks.size === 0) await nodes.ask('getFirstAvailableBlock', firstBlockOf, callOptions)
      const known = [...firstBlocks.values()].flatMap(({ slot }) => slot ?? [])
      return known.length === 0 ? undefined : Math.min(...known)
    },

    call: (method, params, callOptions) => nodes.ask(method, node => send(node, method, params), callOptions)
  }

  /** A list says not of which slot it is. The lists of one call are asked for side by side, and share the node's slot. */
  async function requireSlot(node: SolanaNode, slot: number): Promise<void> {
    if ((newestSlots.get(node.name) ?? -1) >= slot) return
    const newest = await node.share(`slot ${slot}`, async shared =>
      Number(await send(shared, 'getSlot', [{ commitment }]))
    )
    if (!(newest >= slot)) throw new UpstreamError(`${node.name} is behind`, 'behind')
    newestSlots.set(node.name, Math.max(newest, newestSlots.get(node.name) ?? -1))
  }

  /** A node answers an empty list also where it does not know `before`. */
  async function requireKnown(node: SolanaNode, { signature }: ListedSignature): Promise<void> {
    const answer = await send(node, 'getSignatureStatuses', [[signature], { searchTransactionHistory: true }])
    const [status] = (answer as { value?: readonly unknown[] } | null)?.value ?? []
    if (status == null)
      throw new UpstreamError(`${node.name} does not know a signature that was listed`, 'behind')
  }
}

function isOlder(end: SignatureList['end'], other: SignatureList['end']): boolean {
  const asNumber = (each: SignatureList['end']) =>
    typeof each === 'number' ? each : Number.POSITIVE_INFINITY
  return asNumber(end) < asNumber(other)
}

/** @throws {NodeContradictionError} any other shape, an order that is not newest first, or a signature twice. */
function readSignatures(answer: unknown): readonly ListedSignature[] {
  if (!Array.isArray(answer)) throw new NodeContradictionError('the list of signatures is no list')
  const seen = new Set<string>()
  let slotAbove = Number.POSITIVE_INFINITY
  return answer.map(each => {
    const { signature, slot, confirmationStatus } = (each ?? {}) as Readonly<Record<string, unknown>>
    if (typeof signature !== 'string' || typeof slot !== 'number' || !Number.isSafeInteger(slot)) {
      throw new NodeContradictionError('an entry of the list of signatures has no signature or slot')
    }
    if (slot > slotAbove) throw new NodeContradictionError('the list of signatures is not newest first')
    if (seen.has(signature)) throw new NodeContradictionError(`signature ${signature} came twice`)
    seen.add(signature)
    slotAbove = slot
    return { signature, slot, isFinalized: confirmationStatus === 'finalized' || confirmationStatus == null }
  })
}
