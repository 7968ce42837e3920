import { setTimeout as sleep } from 'node:timers/promises'
import {
  type AccountChange,
  type Address,
  type BlockRef,
  type ChangePosition,
  ChangesExpiredError
} from '@chain-data/index'
import { type Cursor, comparePositions, formatCursor } from '../../../server/methods/cursor.ts'
import type { FeedReader } from './Audience.ts'
import type { ChangeFeed } from './ChangeFeed.ts'
import type { Level } from './readPart.ts'

/** Words what a stream sends, as JSON on one line. */
export interface EventTexts {
  change(change: AccountChange, addresses: readonly Address[]): string
  synced(head: BlockRef, finalized: number | undefined): string
}

/** What a stream is about. */
export interface StreamOptions {
  /** In lower case. */
  readonly addresses: ReadonlySet<Address>
  readonly from: Cursor
  /** Whose it is: the streams of one project share the reading of what they have not seen. */
  readonly projectId: string
  /** Each event has one address. */
  readonly oneAddressEach: boolean
  readonly texts: EventTexts
  /** Called with a failure to read the log, which is tried again. */
  readonly onFailure: (failure: unknown) => void
  /** Called once. */
  readonly onEnd: () => void
}

/** Events that wait for their reader, in characters: a reader that leaves more than that catches up later. */
const maxQueued = 65_536
/** Characters that a waiting reader is handed at once, fewer when the stream is level: each piece is a write of the connection. */
const pieceLength = 16_384
/** Well within the 15 seconds that the document promises. */
const syncedEveryMs = 10_000
const retryMs = 1_000

/** The texts of a stream of events, as Server-Sent Events. It ends when `return` is called, or the log cannot be read on. */
export class EventStream implements FeedReader, AsyncIterator<string, undefined> {
  readonly log: string
  readonly addresses: ReadonlySet<Address>
  readonly #feed: ChangeFeed
  readonly #options: StreamOptions
  readonly #ended = new AbortController()
  readonly #timer: NodeJS.Timeout
  #position: ChangePosition
  /** A comment comes first, so that the answer begins at once. */
  #queue = [':\n\n']
  #queued = 0
  #isCatchingUp = false
  #isLive = false
  #owesSynced = true
  #level: Level | undefined
  #reader: ((result: IteratorResult<string, undefined>) => void) | undefined
  /** Events so far. */
  sent = 0
  /** How often it was read too slowly to be given changes as they come. */
  behind = 0

  constructor(feed: ChangeFeed, options: StreamOptions) {
    this.#feed = feed
    this.#options = options
    this.addresses = options.addresses
    this.log = options.from.log
    this.#position = options.from.position
    this.#timer = setInterval(() => this.#beat(), syncedEveryMs)
    this.#timer.unref()
    this.#catchUp()
  }

  get position(): ChangePosition {
    return this.#position
  }

  next(): Promise<IteratorResult<string, undefined>> {
    return new Promise(resolve => {
      this.#reader = resolve
      this.#handOver()
    })
  }

  async return(): Promise<IteratorResult<string, undefined>> {
    this.#queue = []
    this.end()
    return { done: true, value: undefined }
  }

  end(): void {
    if (this.#ended.signal.aborted) return
    this.#ended.abort()
    this.#isLive = false
    clearInterval(this.#timer)
    this.#feed.leave(this)
    this.#handOver()
    this.#options.onEnd()
  }

  take(change: AccountChange, addresses: readonly Address[]): boolean {
    if (this.#queued >= maxQueued) return false
    // Without it, the reader could not know whether more of the same commit comes.
    this.#owesSynced = true
    const { oneAddressEach, texts, from } = this.#options
    const { log } = this
    const { position } = change
    const justBefore = { ...position, index: position.index - 1 }
    const { sentUpTo } = from
    const isPartlySent = sentUpTo !== undefined && comparePositions(justBefore, from.position) === 0
    const left = isPartlySent ? addresses.filter(address => address > sentUpTo) : addresses
    const whole = formatCursor({ log, position })
    if (!oneAddressEach) {
      if (left.length > 0) this.#push(whole, texts.change(change, left))
    } else {
      for (const [index, address] of left.entries()) {
        const isLast = index === left.length - 1
        const id = isLast ? whole : formatCursor({ log, position: justBefore, sentUpTo: address })
        this.#push(id, texts.change(change, [address]))
      }
    }
    this.#position = position
    return true
  }

  skipTo(position: ChangePosition): void {
    if (comparePositions(position, this.#position) > 0) this.#position = position
  }

  reach(level: Level): void {
    this.#isLive = true
    this.#level = level
    if (comparePositions(level.position, this.#position) >= 0) {
      this.#position = level.position
      if (this.#owesSynced) this.#synced()
    }
    this.#handOver()
  }

  leftBehind(): void {
    this.behind++
    this.#isLive = false
    this.#owesSynced = true
    // `next` goes on once the queue is read.
  }

  #beat(): void {
    // A reader that has so much to read already needs no sign of life.
    if (this.#queued >= maxQueued) return
    this.#owesSynced = true
    if (this.#isLive) this.#synced()
    if (this.#owesSynced) this.#pushText(':\n\n')
    this.#handOver()
  }

  /** Says that the stream is level with the index, if it is. */
  #synced(): void {
    const { position, head, finalized } = this.#level ?? { position: this.#position }
    if (head === undefined || comparePositions(position, this.#position) !== 0) return
    this.#owesSynced = false
    const id = formatCursor({ log: this.log, position })
    this.#push(id, this.#options.texts.synced(head, finalized))
  }

  #push(id: string, data: string): void {
    this.sent++
    this.#pushText(`id: ${id}\ndata: ${data}\n\n`)
  }

  #pushText(text: string): void {
    if (this.#ended.signal.aborted) return
    this.#queue.push(text)
    this.#queued += text.length
    if (this.#queued >= pieceLength) this.#handOver()
  }

  /** Hands the queue, or the end, to a reader that waits for it. */
  #handOver(): void {
    const reader = this.#reader
    const isEmpty = this.#queue.length === 0
    const isEnded = this.#ended.signal.aborted
    if (reader === undefined || (isEmpty && !isEnded)) return
    this.#reader = undefined
    reader(isEmpty ? { done: true, value: undefined } : { done: false, value: this.#queue.join('') })
    this.#queue = []
    this.#queued = 0
    if (!this.#isLive && !isEnded) this.#catchUp()
  }

  /** Is given what it has not seen, as far as there is room. */
  #catchUp(): void {
    if (this.#isCatchingUp) return
    this.#isCatchingUp = true
    this.#readMissed()
      .catch(() => this.end())
      .finally(() => {
        this.#isCatchingUp = false
        // The queue may have been read while this ended.
        if (!this.#isLive && this.#queued === 0 && !this.#ended.signal.aborted) this.#catchUp()
      })
  }

  async #readMissed(): Promise<void> {
    const { signal } = this.#ended
    for (;;) {
      try {
        await this.#feed.catchUp(this, this.#options.projectId, signal)
        return
      } catch (error) {
        if (signal.aborted || error instanceof ChangesExpiredError) throw error
        this.#options.onFailure(error)
        await sleep(retryMs, undefined, { signal, ref: false })
      }
    }
  }
}
