import { wordCall } from '../../../nodes/solana/jsonRpc.ts'
import type { SolanaCallOptions, SolanaNode, SolanaNodes } from '../../../nodes/solana/nodes.ts'
import { readAnything } from '../../../nodes/solana/readAnswers.ts'
import { UpstreamError } from '../../../nodes/upstreams/upstreamError.ts'
import { AbsentAnswer } from '../../../nodes/upstreams/work.ts'
import { NodeContradictionError, NodeRpcError } from '../../../platform/errors.ts'
import { present } from '../../../platform/present.ts'

/** A transaction in a list of signatures. */
export interface ListedSignature {
  readonly signature: string
  readonly slot: number
  readonly isFinalized: boolean
  /** What the list says of it; absent for a list that was kept without. */
  readonly facts?: ListedFacts | undefined
}

/** What a list of signatures says of a transaction beside its slot. */
export interface ListedFacts {
  /** Absent: it succeeded. */
  readonly error?: TransactionError
  /** Absent: the node does not know it. */
  readonly blockTime?: number
  /** Texts of its memos; absent where the list names none, as of nodes that keep no memos. */
  readonly memo?: string
}

/** Why a transaction failed, as nodes word it. */
export type TransactionError = string | Readonly<Record<string, unknown>>

/** Signatures of one account, newest first, without a gap as far as the node has them. */
interface SignatureList {
  readonly signatures: readonly ListedSignature[]
  /** Present where there are no older ones: the first slot that the node has, or `unknown` where it does not say. */
  readonly end?: number | 'unknown'
}

/** Signatures in one answer: the limit of nodes. */
export const signaturesPerCall = 1_000
/** Nodes remove old blocks all the time. */
const firstBlockForMs = 60_000
const unsupportedVersion = -32015

/** The node calls of a history, over all of a cluster's `rpcUrls`. @throws as `SolanaRpc` does. */
export class SolanaHistoryRpc {
  readonly #nodes: SolanaNodes
  readonly #commitment: 'confirmed' | 'finalized'
  /** By name of the node, as are the newest slots. */
  readonly #firstBlocks = new Map<string, { readonly slot: number | undefined; readonly untilMs: number }>()
  readonly #newestSlots = new Map<string, number>()
  readonly #calls = new Map<string, number>()

  constructor(nodes: SolanaNodes, commitment: 'confirmed' | 'finalized') {
    this.#nodes = nodes
    this.#commitment = commitment
  }

  /** Number of calls sent to nodes since the start, by method. */
  calls(): ReadonlyMap<string, number> {
    return this.#calls
  }

  /**
   * Lists up to 1,000 signatures that name an account.
   * @param range - `before` and `until` must be signatures of this very account: nodes answer an empty list to others.
   * @remarks One call, and one to see that the node has come to `minContextSlot`. Where the list ends, one more each minute for each node, and where it is empty one to see that the node
   *   knows `before`. A node that has removed more blocks than another is passed over.
   */
  async getSignaturesForAddress(
    account: string,
    range: { readonly before?: ListedSignature | undefined; readonly until?: ListedSignature | undefined },
    options: SolanaCallOptions
  ): Promise<SignatureList> {
    const { before, until } = range
    let best: SignatureList | undefined
    const attempt = async (node: SolanaNode): Promise<SignatureList> => {
      await this.#requireSlot(node, options.minContextSlot ?? 0)
      // Not with minContextSlot: some nodes answer an empty list to it.
      const page = { limit: signaturesPerCall, before: before?.signature, until: until?.signature }
      const params = [account, { commitment: this.#commitment, ...page }]
      const signatures = readSignatures(await this.#send(node, 'getSignaturesForAddress', params))
      if (signatures.length >= signaturesPerCall) return { signatures }
      if (before !== undefined && signatures.length === 0) await this.#requireKnown(node, before)
      const first = await this.#firstBlockOf(node)
      const list = { signatures, end: first ?? ('unknown' as const) }
      if (this.#nodes.count > 1 && this.#isOutdone(first)) {
        if (best === undefined || isOlder(list.end, best.end)) best = list
        throw new UpstreamError(`${node.name} has removed older blocks`, 'refused')
      }
      return list
    }
    try {
      return await this.#nodes.ask('getSignaturesForAddress', attempt, options)
    } catch (error) {
      options.signal?.throwIfAborted()
      if (best === undefined) throw error
      return best
    }
  }

  /**
   * The `result` for a transaction of any version; `undefined` where no node has it, after five tries of each.
   * @param read - also gets the name of the node. @param options.avoid - Name of a node that is asked last.
   */
  async getTransaction<T>(
    signature: string,
    read: (result: unknown, node: string) => T,
    options: SolanaCallOptions & { readonly avoid?: string | undefined }
  ): Promise<T | undefined> {
    const settings = { commitment: this.#commitment, encoding: 'json' }
    const attempt = async (node: SolanaNode): Promise<T | undefined> => {
      const ask = (maxSupportedTransactionVersion: number) =>
        this.#send(node, 'getTransaction', [signature, { ...settings, maxSupportedTransactionVersion }])
      const answer = await ask(0).catch(error => {
        if (error instanceof NodeRpcError && error.rpcCode === unsupportedVersion) return ask(255)
        throw error
      })
      if (answer === null) throw new AbsentAnswer(() => undefined)
      return read(answer, node.name)
    }
    return this.#nodes.ask('getTransaction', attempt, { ...options, mustExist: true })
  }

  /** The signatures of a block in its order; `undefined` where no node has the block, after as many tries. */
  async getBlockSignatures(slot: number, options: SolanaCallOptions): Promise<readonly string[] | undefined> {
    const settings = {
      ...{ commitment: this.#commitment, transactionDetails: 'signatures', rewards: false },
      maxSupportedTransactionVersion: 0
    }
    const attempt = async (node: SolanaNode) => {
      const answer = await this.#send(node, 'getBlock', [slot, settings])
      const signatures = (answer as { signatures?: unknown } | null)?.signatures
      if (!Array.isArray(signatures)) throw new AbsentAnswer(() => undefined)
      return signatures.map(String)
    }
    return this.#nodes.ask('getBlock', attempt, { ...options, mustExist: true })
  }

  /** The first slot that any of the nodes has; `undefined` where none says it. */
  async getFirstAvailableBlock(options: SolanaCallOptions): Promise<number | undefined> {
    if (this.#firstBlocks.size === 0) {
      await this.#nodes.ask('getFirstAvailableBlock', node => this.#firstBlockOf(node), options)
    }
    const known = [...this.#firstBlocks.values()].flatMap(({ slot }) => slot ?? [])
    return known.length === 0 ? undefined : Math.min(...known)
  }

  /** Any other call; the result unchecked. */
  async call(method: string, params: readonly unknown[], options: SolanaCallOptions): Promise<unknown> {
    return this.#nodes.ask(method, node => this.#send(node, method, params), options)
  }

  async #send(node: SolanaNode, method: string, params: readonly unknown[]): Promise<unknown> {
    this.#calls.set(method, (this.#calls.get(method) ?? 0) + 1)
    return readAnything(await node.send(wordCall(method, params)))
  }

  async #firstBlockOf(node: SolanaNode): Promise<number | undefined> {
    const known = this.#firstBlocks.get(node.name)
    if (known !== undefined && known.untilMs > Date.now()) return known.slot
    const slot = await this.#send(node, 'getFirstAvailableBlock', []).then(
      answer => (Number.isSafeInteger(answer) ? (answer as number) : undefined),
      error => {
        if (error instanceof NodeRpcError) return undefined
        throw error
      }
    )
    this.#firstBlocks.set(node.name, { slot, untilMs: Date.now() + firstBlockForMs })
    return slot
  }

  /** Whether another node is known, or may be found, to have older blocks. */
  #isOutdone(slot: number | undefined): boolean {
    if (slot === 0) return false
    if (this.#firstBlocks.size < this.#nodes.count) return true
    const best = Math.min(
      ...[...this.#firstBlocks.values()].map(each => each.slot ?? Number.POSITIVE_INFINITY)
    )
    return best < (slot ?? Number.POSITIVE_INFINITY)
  }

  /** A list says not of which slot it is. The lists of one call are asked for side by side, and share the node's slot. */
  async #requireSlot(node: SolanaNode, slot: number): Promise<void> {
    if ((this.#newestSlots.get(node.name) ?? -1) >= slot) return
    const newest = await node.share(`slot ${slot}`, async shared =>
      Number(await this.#send(shared, 'getSlot', [{ commitment: this.#commitment }]))
    )
    if (!(newest >= slot)) throw new UpstreamError(`${node.name} is behind`, 'behind')
    this.#newestSlots.set(node.name, Math.max(newest, this.#newestSlots.get(node.name) ?? -1))
  }

  /** A node answers an empty list also where it does not know `before`. */
  async #requireKnown(node: SolanaNode, { signature }: ListedSignature): Promise<void> {
    const params = [[signature], { searchTransactionHistory: true }]
    const answer = await this.#send(node, 'getSignatureStatuses', params)
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
    const { signature, slot, confirmationStatus, err, blockTime, memo } = (each ?? {}) as Readonly<
      Record<string, unknown>
    >
    if (typeof signature !== 'string' || typeof slot !== 'number' || !Number.isSafeInteger(slot)) {
      throw new NodeContradictionError('an entry of the list of signatures has no signature or slot')
    }
    if (slot > slotAbove) throw new NodeContradictionError('the list of signatures is not newest first')
    if (seen.has(signature)) throw new NodeContradictionError(`signature ${signature} came twice`)
    seen.add(signature)
    slotAbove = slot
    const facts: ListedFacts = present({
      error: readTransactionError(err),
      blockTime: typeof blockTime === 'number' ? blockTime : undefined,
      memo: typeof memo === 'string' ? readListedMemo(memo) : undefined
    })
    const isFinalized = confirmationStatus === 'finalized' || confirmationStatus == null
    return { signature, slot, isFinalized, facts }
  })
}

/**
 * Reads the `err` of a transaction, in a list or in its meta.
 * @returns `undefined` for one that succeeded.
 * @throws {NodeContradictionError} it is neither a text nor an object.
 */
export function readTransactionError(err: unknown): TransactionError | undefined {
  if (err === null || err === undefined) return undefined
  if (typeof err !== 'string' && (typeof err !== 'object' || Array.isArray(err))) {
    throw new NodeContradictionError('the error of a transaction is neither a text nor an object')
  }
  return JSON.parse(JSON.stringify(err, (_, value) => (typeof value === 'bigint' ? Number(value) : value)))
}

/**
 * Reads the memo of a list: each memo is written as `[bytes] text`, and several are joined by `; `.
 * @returns the texts, joined likewise; `undefined` for any other form, and for a memo that is no UTF-8.
 */
function readListedMemo(memo: string): string | undefined {
  const bytes = Buffer.from(memo)
  const texts: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const [head, length] = /^(?:; )?\[(\d+)\] /.exec(bytes.toString('latin1', at, at + 16)) ?? []
    if (head === undefined) return undefined
    const start = at + head.length
    at = start + Number(length)
    texts.push(bytes.toString('utf8', start, at))
    if (at > bytes.length || texts.at(-1) === '(unparseable)') return undefined
  }
  return texts.length === 0 ? undefined : texts.join('; ')
}
