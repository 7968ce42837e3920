import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AccountChange,
  type Address,
  type BlockRef,
  type ChangeBounds,
  type ChangePosition,
  ChangesExpiredError,
  type Snapshot,
  type StoreReader
} from '@chain-data/index'
import { createPermits } from '../../platform/concurrency/permits.ts'
import { comparePositions } from './cursor.ts'

/** A state of the index that all changes up to a position lead to. */
export interface Level {
  readonly position: ChangePosition
  /** Absent where nothing is indexed, and in the middle of a reorg: then histories are not those of the position. */
  readonly head?: BlockRef
  readonly finalized?: number
}

/** A stream, as its feed sees it. */
export interface FeedReader {
  readonly log: string
  /** In lower case. */
  readonly addresses: ReadonlySet<Address>
  /** Changes up to here were taken. */
  readonly position: ChangePosition
  /**
   * Takes a change for some of the addresses, in ascending order.
   * @returns false: there is no room, and nothing was taken.
   */
  take(change: AccountChange, addresses: readonly Address[]): boolean
  /** Everything up to this level was given. */
  reach(level: Level): void
  /** Called once it is left out: it has no room, and catches up by itself. */
  leftBehind(): void
  /** The log cannot be read on from where it is. */
  end(): void
}

/** Streams that read the log for themselves at the same time: each of them takes a snapshot. */
const catchUpsAtOnce = 4
/** A replica may be so late: a cursor that the primary gave out is ahead of it meanwhile. */
const replicaLateMs = 5_000
const [replicaPollMs, retryMs] = [50, 1_000]

/**
 * Gives the changes of one chain to its streams. While there are streams, the log is read once for all of them, after each
 * commit. A stream that begins, goes on after a cursor or was read too slowly reads the log for itself first, until it is where
 * the others are.
 */
export class ChangeFeed {
  readonly #store: Pick<StoreReader, 'openSnapshot' | 'onCommit'>
  readonly #onFailure: (failure: unknown) => void
  readonly #readers = new Set<FeedReader>()
  readonly #watched = new Map<Address, Set<FeedReader>>()
  readonly #catchUps = createPermits(inUse => inUse < catchUpsAtOnce)
  #log = ''
  /** Changes up to here were given to all readers. */
  #position: ChangePosition = { entry: 0, index: 0 }
  /** The end of what is being read: whoever joins now misses changes up to here. */
  #target: ChangePosition = { entry: 0, index: 0 }
  #stopWatching: (() => void) | undefined
  #hasNews = false
  #isReading = false

  /** @param onFailure - called when the log could not be read; reading it is tried again. */
  constructor(store: Pick<StoreReader, 'openSnapshot' | 'onCommit'>, onFailure: (failure: unknown) => void) {
    this.#store = store
    this.#onFailure = onFailure
  }

  get readers(): number {
    return this.#readers.size
  }

  /**
   * Opens a snapshot that has reached a position.
   * @throws {ChangesExpiredError} the changes after it are not kept, or it is of another log.
   */
  async openAt(
    { log, position }: { readonly log: string; readonly position: ChangePosition },
    signal: AbortSignal
  ): Promise<{ readonly snapshot: Snapshot; readonly bounds: ChangeBounds }> {
    const lastMoment = performance.now() + replicaLateMs
    for (;;) {
      const snapshot = await this.#store.openSnapshot()
      try {
        const bounds = await snapshot.changeBounds()
        const isReached = comparePositions(bounds.newest, position) >= 0
        if (bounds.log === log && isReached) return { snapshot, bounds }
        if (bounds.log !== log || performance.now() > lastMoment) {
          throw new ChangesExpiredError('the cursor is not one of this index')
        }
      } catch (error) {
        await snapshot.close()
        throw error
      }
      await snapshot.close()
      await sleep(replicaPollMs, undefined, { signal })
    }
  }

  /**
   * Reads the log for one stream, and lets it join the others once it is where they are.
   * @returns false: it has no room for more.
   * @throws {ChangesExpiredError} the changes after its position are not kept any more.
   */
  catchUp(reader: FeedReader, signal: AbortSignal): Promise<boolean> {
    return this.#catchUps.run(async () => {
      for (;;) {
        signal.throwIfAborted()
        const { snapshot, bounds } = await this.openAt(reader, signal)
        try {
          for await (const { changes } of snapshot.changes(reader.position, { watched: reader.addresses })) {
            for (const change of changes) {
              signal.throwIfAborted()
              if (!reader.take(change, watchedOf(change, reader.addresses))) return false
            }
          }
          const level = await readLevel(snapshot, bounds)
          signal.throwIfAborted()
          if (this.#join(reader, bounds, level)) return true
        } finally {
          await snapshot.close()
        }
      }
    }, signal)
  }

  /** Gives a reader nothing more. */
  leave(reader: FeedReader): void {
    if (!this.#readers.delete(reader)) return
    for (const address of reader.addresses) {
      const watching = this.#watched.get(address)
      watching?.delete(reader)
      if (watching?.size === 0) this.#watched.delete(address)
    }
    if (this.#readers.size > 0) return
    this.#stopWatching?.()
    this.#stopWatching = undefined
  }

  /** @returns false: changes have been read meanwhile that the reader has not seen. */
  #join(reader: FeedReader, { log, newest }: ChangeBounds, level: Level): boolean {
    if (this.#readers.size === 0) {
      this.#log = log
      this.#position = newest
      this.#target = newest
    } else if (log !== this.#log || comparePositions(newest, this.#target) < 0) {
      return false
    }
    this.#readers.add(reader)
    for (const address of reader.addresses) {
      const watching = this.#watched.get(address) ?? new Set()
      this.#watched.set(address, watching.add(reader))
    }
    reader.reach(level)
    if (this.#stopWatching === undefined) {
      this.#stopWatching = this.#store.onCommit(() => this.#read())
      // There may have been a commit since the snapshot.
      this.#read()
    }
    return true
  }

  #read(): void {
    this.#hasNews = true
    if (this.#isReading) return
    this.#isReading = true
    void this.#readNews()
  }

  async #readNews(): Promise<void> {
    while (this.#hasNews && this.#readers.size > 0) {
      this.#hasNews = false
      try {
        await this.#readOn()
      } catch (error) {
        if (error instanceof ChangesExpiredError) {
          this.#endAll()
          break
        }
        this.#onFailure(error)
        this.#hasNews = true
        await sleep(retryMs, undefined, { ref: false })
      }
    }
    this.#isReading = false
  }

  async #readOn(): Promise<void> {
    const watching = this.#stopWatching
    // All streams may have ended meanwhile, and others begun elsewhere.
    const isOver = () => this.#stopWatching !== watching
    const snapshot = await this.#store.openSnapshot()
    try {
      const bounds = await snapshot.changeBounds()
      if (isOver()) return
      if (bounds.log !== this.#log) throw new ChangesExpiredError('the chain has another index')
      // A replica that is late: the next snapshot is newer.
      if (comparePositions(bounds.newest, this.#position) < 0) return
      this.#target = bounds.newest
      for await (const { changes, position } of snapshot.changes(this.#position, {
        watched: this.#watched
      })) {
        if (isOver()) return
        for (const change of changes) this.#give(change)
        this.#position = position
      }
      const level = await readLevel(snapshot, bounds)
      if (isOver()) return
      this.#position = bounds.newest
      for (const reader of this.#readers) reader.reach(level)
    } finally {
      await snapshot.close()
    }
  }

  #give(change: AccountChange): void {
    const found = new Map<FeedReader, Address[]>()
    for (const party of [...change.parties].sort()) {
      for (const reader of this.#watched.get(party) ?? []) {
        const addresses = found.get(reader)
        if (addresses === undefined) found.set(reader, [party])
        else addresses.push(party)
      }
    }
    for (const [reader, addresses] of found) {
      // Who joined while this was being read has seen it.
      if (comparePositions(change.position, reader.position) <= 0) continue
      if (reader.take(change, addresses)) continue
      this.leave(reader)
      reader.leftBehind()
    }
  }

  #endAll(): void {
    for (const reader of [...this.#readers]) {
      this.leave(reader)
      reader.end()
    }
  }
}

function watchedOf({ parties }: AccountChange, addresses: ReadonlySet<Address>): readonly Address[] {
  return parties.filter(party => addresses.has(party)).sort()
}

async function readLevel(snapshot: Snapshot, { newest: position }: ChangeBounds): Promise<Level> {
  const { settled, finalized } = await snapshot.marks()
  const range = await snapshot.indexedRange()
  if (!settled || range === undefined) return { position }
  return { position, head: range.to, ...(finalized !== undefined && { finalized }) }
}
