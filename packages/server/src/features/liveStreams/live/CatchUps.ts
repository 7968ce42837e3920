import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises'
import { type ChangePosition, ChangesExpiredError } from '@chain-data/index'
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

/** The streams of one project that catch up: a pass over the log is for all of them that are where it is, or later. */
interface Project {
  /** For the next turn, or for the next pass. */
  readonly joining: Set<FeedReader>
  pass: { readonly audience: Audience; readonly log: string; position: ChangePosition } | undefined
}

/** Replays the log for streams that are not where the others are: for all of a project at once, projects in turn. */
export class CatchUps {
  readonly #replay: (order: PartOrder) => Promise<ReplayedPart>
  readonly #join: (reader: FeedReader, part: Required<ReplayedPart>) => boolean
  readonly #projects = new Map<string, Project>()
  readonly #waits = new Map<FeedReader, Wait>()
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
    const project = this.#projects.get(projectId) ?? { joining: new Set(), pass: undefined }
    this.#projects.set(projectId, project)
    project.joining.add(reader)
    const ended = new Promise<boolean>((end, fail) => this.#waits.set(reader, { end, fail }))
    const leave = () => this.#waits.get(reader)?.fail(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    if (!this.#isRunning) void this.#run()
    try {
      return await ended
    } finally {
      signal.removeEventListener('abort', leave)
      this.#waits.delete(reader)
      project.joining.delete(reader)
      project.pass?.audience.delete(reader)
    }
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    // Those that come together share the first turn, too.
    await breathe()
    // A project that is put back has its next turn after all others.
    for (const [projectId, project] of this.#projects) {
      await this.#takeTurn(project)
      this.#projects.delete(projectId)
      if (project.joining.size > 0 || project.pass !== undefined) this.#projects.set(projectId, project)
    }
    this.#isRunning = false
  }

  async #takeTurn(project: Project): Promise<void> {
    beginTurn(project)
    const { pass } = project
    if (pass === undefined) return
    const { audience, log, position: after } = pass
    try {
      const part = await this.#replay({ log, after, watched: audience.watched })
      await this.#give(part, audience)
      pass.position = part.position
      if (part.level !== undefined && audience.size > 0 && comparePositions(part.position, after) === 0) {
        await sleep(lateMs, undefined, { ref: false })
      }
    } catch (error) {
      const isExpired = error instanceof ChangesExpiredError
      const oldest = [...audience].filter(({ position }) => comparePositions(position, after) === 0)
      const failed = isExpired && oldest.length > 0 ? oldest : [...audience]
      for (const reader of failed) {
        audience.delete(reader)
        this.#waits.get(reader)?.fail(error)
      }
      // What is kept is learned from where the next one is.
      for (const reader of audience) project.joining.add(reader)
      project.pass = undefined
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
      for (const reader of audience.give(change)) this.#waits.get(reader)?.end(false)
      await pause()
    }
    for (const reader of [...audience]) {
      // It may have left during a pause.
      if (!this.#waits.has(reader)) continue
      reader.skipTo(position)
      if (level !== undefined && this.#join(reader, { changes, position, level })) {
        audience.delete(reader)
        this.#waits.get(reader)?.end(true)
      }
      await pause()
    }
  }
}

/** Lets streams join the pass of their project: those that are where it is, or later. An empty one begins anew with the earliest. */
function beginTurn(project: Project): void {
  if (project.pass?.audience.size === 0) project.pass = undefined
  const [first] = project.joining
  if (project.pass === undefined && first !== undefined) {
    const { log } = first
    let { position } = first
    for (const each of project.joining) {
      if (each.log === log && comparePositions(each.position, position) < 0) position = each.position
    }
    project.pass = { audience: new Audience(), log, position }
  }
  const { pass } = project
  if (pass === undefined) return
  for (const reader of project.joining) {
    if (reader.log !== pass.log || comparePositions(reader.position, pass.position) < 0) continue
    project.joining.delete(reader)
    pass.audience.add(reader)
  }
}
