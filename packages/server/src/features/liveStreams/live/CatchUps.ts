import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises'
import { ChangesExpiredError } from '@chain-data/index'
import { comparePositions } from '../../../server/methods/cursor.ts'
import { Audience, type FeedReader } from './Audience.ts'
import type { PartOrder, ReplayedPart } from './readPart.ts'

/** After so long, what waits on the event loop runs before more is given. */
const sliceMs = 2
/** The replaying reader shows less than streams have been given, as a late replica does. */
const lateMs = 50

interface Wait {
  /** @param isLevel - false: the stream has no room for more. */
  end(isLevel: boolean): void
  fail(error: unknown): void
}

/** Streams that share passes over the log. */
interface Group {
  readonly waiting: Map<FeedReader, Wait>
  /** Those of the pass under way, which is where the earliest of them is. */
  readonly audience: Audience
}

/**
 * Replays the log for streams that have not seen all of it: for all of a project at once, projects in turn. While several projects wait,
 * every second turn is for all of them, so that the log is not read once for each.
 */
export class CatchUps {
  readonly #replay: (order: PartOrder) => Promise<ReplayedPart>
  readonly #join: (reader: FeedReader, part: Required<ReplayedPart>) => boolean
  readonly #all = createGroup()
  readonly #projects = new Map<string, Group>()
  #isRunning = false

  /** @param join - called with a stream that has seen all of a part that is level; false: not all that the others have seen. */
  constructor(
    replay: (order: PartOrder) => Promise<ReplayedPart>,
    join: (reader: FeedReader, part: Required<ReplayedPart>) => boolean
  ) {
    this.#replay = replay
    this.#join = join
  }

  /**
   * Gives a stream what it has not seen, until it has joined the others.
   * @returns false: it has no room for more.
   * @throws {ChangesExpiredError} the changes after its position are not kept any more.
   */
  async catchUp(reader: FeedReader, projectId: string, signal: AbortSignal): Promise<boolean> {
    const project = this.#projects.get(projectId) ?? createGroup()
    this.#projects.set(projectId, project)
    const groups = [this.#all, project]
    const ended = new Promise<boolean>((end, fail) => {
      for (const { waiting } of groups) waiting.set(reader, { end, fail })
    })
    const leave = () => this.#all.waiting.get(reader)?.fail(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    if (!this.#isRunning) void this.#run()
    try {
      return await ended
    } finally {
      signal.removeEventListener('abort', leave)
      for (const { waiting, audience } of groups) {
        waiting.delete(reader)
        audience.delete(reader)
      }
      if (project.waiting.size === 0) this.#projects.delete(projectId)
    }
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    // Those that come together share the first turn, too.
    await breathe()
    for (const [projectId, project] of this.#projects) {
      await this.#takeTurn(project)
      const waiting = this.#projects.get(projectId)
      // Its next turn is after those of all others.
      this.#projects.delete(projectId)
      if (waiting !== undefined) this.#projects.set(projectId, waiting)
      if (this.#projects.size > 1) await this.#takeTurn(this.#all)
    }
    this.#isRunning = false
  }

  async #takeTurn(group: Group): Promise<void> {
    const earliest = beginTurn(group)
    if (earliest === undefined) return
    const { audience } = group
    const { log, position: after } = earliest
    try {
      const part = await this.#replay({ log, after, watched: audience.watched })
      await this.#give(part, audience)
      if (part.level !== undefined && audience.size > 0 && comparePositions(part.position, after) === 0) {
        await sleep(lateMs, undefined, { ref: false })
      }
    } catch (error) {
      for (const reader of audience) {
        // What is kept is learned from where the next one is.
        const isLater = comparePositions(reader.position, after) > 0
        if (!isLater || !(error instanceof ChangesExpiredError)) this.#all.waiting.get(reader)?.fail(error)
      }
    }
  }

  async #give({ changes, position, level }: ReplayedPart, audience: Audience): Promise<void> {
    let sinceMs = performance.now()
    const pause = async () => {
      if (performance.now() - sinceMs < sliceMs) return
      await breathe()
      sinceMs = performance.now()
    }
    for (const change of changes) {
      for (const reader of audience.give(change)) this.#all.waiting.get(reader)?.end(false)
      await pause()
    }
    for (const reader of audience) reader.skipTo(position)
    if (level === undefined) return
    for (const reader of [...audience]) {
      // It may have left during a pause.
      if (this.#all.waiting.has(reader) && this.#join(reader, { changes, position, level })) {
        audience.delete(reader)
        this.#all.waiting.get(reader)?.end(true)
      }
      await pause()
    }
  }
}

const createGroup = (): Group => ({ waiting: new Map(), audience: new Audience() })

/** Lets streams join the pass of their group: those that are where it is, or later. @returns the earliest of the pass. */
function beginTurn({ waiting, audience }: Group): FeedReader | undefined {
  let earliest: FeedReader | undefined
  for (const reader of audience.size > 0 ? audience : waiting.keys()) {
    earliest ??= reader
    if (reader.log === earliest.log && comparePositions(reader.position, earliest.position) < 0)
      earliest = reader
  }
  for (const reader of earliest === undefined ? [] : waiting.keys()) {
    const isLater = reader.log === earliest?.log && comparePositions(reader.position, earliest.position) >= 0
    if (isLater) audience.add(reader)
  }
  return earliest
}
