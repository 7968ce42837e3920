import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AccountChange,
  type ChangePosition,
  ChangesExpiredError,
  type StoreReader
} from '@chain-data/index'
import { comparePositions } from '../../../server/methods/cursor.ts'
import { Audience, type FeedReader } from './Audience.ts'
import { CatchUps } from './CatchUps.ts'
import { openAt } from './openAt.ts'
import { type Level, type PartOrder, type ReplayedPart, readLevel } from './readPart.ts'

const retryMs = 1_000

/**
 * Gives the changes of one chain to its streams. While there are streams, the log is read once for all of them, after each
 * commit. A stream that goes on after a cursor or was read too slowly catches up first, until it is where the others are.
 */
export class ChangeFeed {
  readonly #store: Pick<StoreReader, 'openSnapshot' | 'onCommit'>
  readonly #onFailure: (failure: unknown) => void
  readonly #audience = new Audience()
  readonly #catchUps: CatchUps
  #log = ''
  /** Changes up to here were given to all readers. */
  #position: ChangePosition = { entry: 0, index: 0 }
  /** The end of what is being read: whoever joins now misses changes up to here. */
  #target: ChangePosition = { entry: 0, index: 0 }
  /** The last one that was given; absent before the first stream. */
  #level: Level | undefined
  #stopWatching: (() => void) | undefined
  #hasNews = false
  #isReading = false

  /**
   * @param replay - replays the log of the chain for streams that catch up.
   * @param onFailure - called when the log could not be read; reading it is tried again.
   */
  constructor(
    store: Pick<StoreReader, 'openSnapshot' | 'onCommit'>,
    replay: (order: PartOrder) => Promise<ReplayedPart>,
    onFailure: (failure: unknown) => void
  ) {
    this.#store = store
    this.#catchUps = new CatchUps(replay, (reader, { level }) => this.#join(reader, level))
    this.#onFailure = onFailure
  }

  get readers(): number {
    return this.#audience.size
  }

  /**
   * Lets a stream join the others, once it has been given what it has not seen.
   * @returns false: it has no room for more.
   * @throws {ChangesExpiredError} the changes after its position are not kept any more.
   */
  async catchUp(reader: FeedReader, projectId: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#joinNow(reader, signal)) || this.#catchUps.catchUp(reader, projectId, signal)
  }

  /** @returns false: there are changes that it has not seen. */
  async #joinNow(reader: FeedReader, signal: AbortSignal): Promise<boolean> {
    if (this.#level !== undefined && this.#audience.size > 0) return this.#join(reader, this.#level)
    const { snapshot, bounds } = await openAt(this.#store, reader, signal)
    try {
      if (comparePositions(bounds.newest, reader.position) !== 0) return false
      const level = await readLevel(snapshot, bounds)
      signal.throwIfAborted()
      return this.#join(reader, level)
    } finally {
      await snapshot.close()
    }
  }

  /** Gives a reader nothing more. */
  leave(reader: FeedReader): void {
    if (!this.#audience.delete(reader) || this.#audience.size > 0) return
    this.#stopWatching?.()
    this.#stopWatching = undefined
  }

  /** @returns false: changes have been read meanwhile that the reader has not seen. */
  #join(reader: FeedReader, level: Level): boolean {
    const { log, position } = reader
    if (this.#audience.size === 0) {
      this.#log = log
      this.#position = position
      this.#target = position
      this.#level = level
    } else if (log !== this.#log || comparePositions(position, this.#target) < 0) {
      return false
    }
    this.#audience.add(reader)
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
    while (this.#hasNews && this.#audience.size > 0) {
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
      const { watched } = this.#audience
      for await (const { changes, position } of snapshot.changes(this.#position, { watched })) {
        if (isOver()) return
        for (const change of changes) this.#give(change)
        this.#position = position
      }
      const level = await readLevel(snapshot, bounds)
      if (isOver()) return
      this.#position = bounds.newest
      this.#level = level
      for (const reader of this.#audience) reader.reach(level)
    } finally {
      await snapshot.close()
    }
  }

  #give(change: AccountChange): void {
    // Who joined while this was being read has seen it.
    for (const reader of this.#audience.give(change)) {
      this.leave(reader)
      reader.leftBehind()
    }
  }

  #endAll(): void {
    for (const reader of [...this.#audience]) {
      this.leave(reader)
      reader.end()
    }
  }
}
