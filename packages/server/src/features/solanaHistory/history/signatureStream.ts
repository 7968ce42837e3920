import type { SolanaCallOptions } from '../../../nodes/solana/nodes.ts'
import type { HistoryCache } from './HistoryCache.ts'
import {
  type ListedFacts,
  type ListedSignature,
  type SolanaHistoryRpc,
  signaturesPerCall
} from './historyRpc.ts'
import { newestForMs } from './walletAccounts.ts'

/** The signatures of one account, read backwards as far as they are needed. */
export interface SignatureStream {
  readonly account: string
  /** Newest first, from the slot that the stream was opened at. */
  readonly entries: readonly ListedSignature[]
  /** The entries above that slot which were read on the way: how many, the newest and the oldest of them. */
  readonly skipped: Skipped | undefined
  /** Present once the stream has ended: the first slot that the node has, or `unknown`. */
  readonly end: number | 'unknown' | undefined
  /** All entries above this slot are known. */
  readonly reach: number
  /** Reads the next part. One call, none where it is kept. */
  load(options: SolanaCallOptions): Promise<void>
  /** Drops what is kept of this list: the next reading asks nodes for all of it. */
  forget(): void
}

interface Skipped {
  readonly count: number
  readonly newest: ListedSignature
  readonly oldest: ListedSignature
  /** All of them in the slot of the oldest. */
  readonly inOldestSlot: readonly ListedSignature[]
}

type KeptSignature = readonly [signature: string, slot: number, facts?: ListedFacts | undefined]

/** A part of a list as it is kept. */
interface KeptPart {
  readonly signatures: readonly KeptSignature[]
  readonly end?: number | 'unknown'
}

/** The newest part. */
interface KeptHead extends KeptPart {
  /** Everything up to this slot is in it. */
  readonly asOf: number
  /** What was newer when it was read, not yet finalised. */
  readonly open: KeptPart['signatures']
  /** The slot and the time at which it was read: together with `open` everything up to that slot. */
  readonly readAt: number
  readonly readAtMs: number
}

interface StreamOptions {
  readonly rpc: SolanaHistoryRpc
  readonly cache: HistoryCache
  readonly account: string
  /** Entries of newer slots are left out. */
  readonly fromSlot: number
  /** The slot up to which the list has to be known: below it no node is asked. */
  readonly asOf: number
  /** The kept head, where it was read together with others. */
  readonly head?: KeptHead | undefined
}

/** How long it is believed that there is nothing older than what a node still has. */
const endForMs = 3_600_000
/** Blocks become final after 32 slots. */
export const finalAfterSlots = 32
/** A head longer than two answers gives its older half away. */
const maxHead = 2 * signaturesPerCall

/** Name of a list's head in the cache. */
export function headName(account: string): string {
  return account
}

/**
 * Opens the list of an account. Finalised parts come from the cache. It is read by the account's own signatures, since nodes answer an
 * empty list for `before` of another account, or for one that they have removed.
 */
export function createSignatureStream(options: StreamOptions): SignatureStream {
  const { rpc, cache, account, fromSlot, asOf } = options
  const entries: ListedSignature[] = []
  let skipped: Skipped | undefined
  let last: ListedSignature | undefined
  let end: number | 'unknown' | undefined
  let isOpen = false
  const names = new Set([headName(account)])

  function add(signatures: readonly ListedSignature[]): void {
    for (const entry of signatures) {
      if (entry.slot <= fromSlot) entries.push(entry)
      else skipped = addTo(skipped, entry)
    }
    last = signatures.at(-1) ?? last
  }

  async function loadHead(callOptions: SolanaCallOptions): Promise<void> {
    const head = options.head
    isOpen = true
    if (head !== undefined && (head.asOf >= asOf || isNew(head))) {
      if (head.asOf < asOf) add(head.open.map(each => ({ ...toListed(each), isFinalized: false })))
      add(head.signatures.map(toListed))
      end = head.end
      return
    }
    const known = (head?.signatures ?? []).map(toListed)
    const list = await rpc.getSignaturesForAddress(account, { until: known[0] }, callOptions)
    // Without the end of the new ones, or where the node does not reach down to the known ones, these are read anew.
    const reaches =
      known[0] !== undefined &&
      list.end !== undefined &&
      (list.end === 'unknown' || list.end <= known[0].slot)
    const overlap = new Set(known.map(({ signature }) => signature))
    const fresh = list.signatures.filter(({ signature }) => !overlap.has(signature))
    const all = reaches ? [...fresh, ...known] : [...list.signatures]
    end = reaches ? endOf(head?.end, list.end) : list.end
    add(all)
    keepHead(all, end, callOptions.minContextSlot)
  }

  const isNew = ({ readAt, readAtMs }: KeptHead) => readAt >= asOf && Date.now() - readAtMs < newestForMs

  function keepHead(all: readonly ListedSignature[], headEnd: KeptPart['end'], readAt = 0): void {
    const firstFinal = all.findIndex(({ isFinalized }) => isFinalized)
    const final = firstFinal < 0 ? [] : all.slice(firstFinal)
    const oldestOpen = all[(firstFinal < 0 ? all.length : firstFinal) - 1]
    const seenTo = oldestOpen === undefined ? readAt - finalAfterSlots : oldestOpen.slot - 1
    const read = {
      asOf: Math.max(seenTo, final[0]?.slot ?? 0),
      open: all.slice(0, all.length - final.length).map(toKept),
      ...{ readAt, readAtMs: Date.now() }
    }
    if (final.length > maxHead) {
      const kept = final.slice(0, signaturesPerCall)
      keepPart(kept.at(-1), final.slice(signaturesPerCall), headEnd)
      cache.save('lists', headName(account), { signatures: kept.map(toKept), ...read })
      return
    }
    const headDoc: KeptHead = {
      signatures: final.map(toKept),
      ...read,
      ...(headEnd !== undefined && { end: headEnd })
    }
    cache.save('lists', headName(account), headDoc)
  }

  function keepPart(
    before: ListedSignature | undefined,
    part: readonly ListedSignature[],
    partEnd: KeptPart['end']
  ): void {
    if (before === undefined || !before.isFinalized) return
    const kept: KeptPart = { signatures: part.map(toKept), ...(partEnd !== undefined && { end: partEnd }) }
    cache.save('lists', partName(before), kept)
  }

  const partName = ({ signature }: ListedSignature) => `${account}:${signature}`

  return {
    account,
    entries,
    forget() {
      for (const name of names) cache.forget('lists', name)
    },
    get skipped() {
      return skipped
    },
    get end() {
      return end
    },
    get reach() {
      if (end !== undefined) return -1
      return isOpen && last !== undefined ? Math.min(last.slot, fromSlot) : fromSlot
    },
    async load(callOptions) {
      if (end !== undefined) return
      if (!isOpen) return loadHead(callOptions)
      const before = last
      if (before === undefined) return loadHead(callOptions)
      const name = partName(before)
      names.add(name)
      const kept = (await cache.read<KeptPart>('lists', [name])).get(name)
      const isCurrent =
        kept !== undefined && (kept.value.end === undefined || Date.now() - kept.savedAtMs < endForMs)
      if (isCurrent) {
        add(kept.value.signatures.map(toListed))
        end = kept.value.end
        return
      }
      const list = await rpc.getSignaturesForAddress(account, { before }, callOptions)
      add(list.signatures)
      end = list.end
      keepPart(before, list.signatures, list.end)
    }
  }
}

function addTo(skipped: Skipped | undefined, entry: ListedSignature): Skipped {
  if (skipped === undefined) return { count: 1, newest: entry, oldest: entry, inOldestSlot: [entry] }
  const inOldestSlot = skipped.oldest.slot === entry.slot ? [...skipped.inOldestSlot, entry] : [entry]
  return { count: skipped.count + 1, newest: skipped.newest, oldest: entry, inOldestSlot }
}

/** The end of what is kept; none where a node has older blocks by now, as with a long-term storage that was switched on. */
function endOf(kept: KeptPart['end'], now: KeptPart['end']): KeptPart['end'] {
  const hasMore = typeof now === 'number' && (kept === 'unknown' || (kept !== undefined && now < kept))
  return hasMore ? undefined : kept
}

function toListed([signature, slot, facts]: KeptSignature): ListedSignature {
  return { signature, slot, facts, isFinalized: true }
}

function toKept({ signature, slot, facts }: ListedSignature): KeptSignature {
  return [signature, slot, facts]
}

export type { KeptHead }
