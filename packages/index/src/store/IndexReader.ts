import type { Address } from '../model/evm.ts'
import { type Damage, StoreError } from '../platform/errors.ts'
import type { IndexState, Snapshot, SnapshotOptions, StoreReader } from '../port/store.ts'
import { emptySnapshot } from './IndexSnapshot.ts'
import type { SnapshotLease, SnapshotLeases } from './SnapshotLeases.ts'

/** An engine's part of a reader. */
export interface SnapshotSource {
  /**
   * Opens a view of the index, and begins the lease.
   * @param historyOf - as in the port.
   * @returns absent while the index does not exist.
   */
  open(lease: SnapshotLease, historyOf?: Address): Promise<Snapshot | undefined>
  /** As in the port; absent: never known. */
  unchangedState?(sinceMs: number): IndexState | undefined
  /** As in the port. */
  reportDamage(damage: Damage): Promise<void>
  /** As in the port. */
  onCommit(listener: () => void): () => void
  /** Called after the snapshots of the reader were ended. */
  close?(): void
}

/** Opens snapshots of one chain's index, as many at once as there are leases. */
export class IndexReader implements StoreReader {
  readonly #leases: SnapshotLeases
  readonly #source: SnapshotSource
  readonly #open = new Set<SnapshotLease>()
  readonly #listening = new Set<() => void>()
  #isClosed = false

  constructor(leases: SnapshotLeases, source: SnapshotSource) {
    this.#leases = leases
    this.#source = source
  }

  async openSnapshot({ pause, historyOf }: SnapshotOptions = {}): Promise<Snapshot> {
    this.#checkOpen()
    const lease = await this.#leases.take(ended => this.#open.delete(ended), pause)
    this.#open.add(lease)
    try {
      this.#checkOpen()
      const snapshot = await this.#source.open(lease, historyOf)
      this.#checkOpen()
      if (snapshot !== undefined) return snapshot
      lease.end('empty')
      return emptySnapshot
    } catch (error) {
      lease.end('not open')
      throw error
    }
  }

  unchangedState(sinceMs = Number.POSITIVE_INFINITY): IndexState | undefined {
    this.#checkOpen()
    return this.#source.unchangedState?.(sinceMs)
  }

  async reportDamage(damage: Damage): Promise<void> {
    this.#checkOpen()
    await this.#source.reportDamage(damage)
  }

  onCommit(listener: () => void): () => void {
    this.#checkOpen()
    const end = this.#source.onCommit(listener)
    this.#listening.add(end)
    return () => {
      if (this.#listening.delete(end)) end()
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const end of this.#listening) end()
    for (const lease of this.#open) lease.end('closed')
    this.#source.close?.()
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new StoreError('the store is closed')
  }
}
