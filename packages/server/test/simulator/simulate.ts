import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type Address, type Hash, IndexDamagedError, walkIndex } from '@chain-data/index'
import { people } from '@chain-data/index/test'
import { createRandom, type Random } from '../../../devnet/src/platform/createRandom.ts'
import { type AnswerChecker, createAnswerChecker, type Told } from './checkAnswer.ts'
import { createLogChecker } from './checkLog.ts'
import { checkSnapshot } from './checkSnapshot.ts'
import { drawPlan } from './drawPlan.ts'
import { readAnswer } from './readAnswer.ts'
import { createSimulatedChain, type SimulatedChain } from './simulatedChain.ts'
import { type CallFault, createSimulatedDisk, remains, type SimulatedDisk } from './simulatedDisk.ts'
import { chainId, createSimulatedNode, nodeMoods, type SimulatedNode } from './simulatedNode.ts'
import { type ServerPlan, type SimulatedServer, startSimulatedServer } from './simulatedServer.ts'
import { inVirtualTime, type VirtualTime } from './virtualTime.ts'

/** What one seed came to. */
export interface Outcome {
  readonly seed: number
  /** Why the run is a failure; absent: every answer was right. */
  readonly failure?: string
  /** Everything that happened, with the virtual milliseconds at which it did. */
  readonly trace: readonly string[]
  /** SHA-256 of the trace. */
  readonly digest: string
  readonly counts: Readonly<Record<string, number>>
}

const callFaults: readonly [CallFault, ...CallFault[]] = [
  'fails',
  'unheard',
  'slow',
  'kills',
  'kills',
  'flips',
  'flips'
]
/** A poll of the pool counts for so long. */
const poolFreshMs = 15_000
/** The pool was seen 15 seconds before, by a node that may lag, over a disk that may hang. */
const staleMs = 30_000
/** All faults are over after so long: the longest pause is 30 seconds. */
const calmMs = 180_000
/** Between two deeds: some come at once, as a block that is found while a reorg is being met. */
const pausesMs = [50, 50, 700, 700, 700, 4_000] as const
/** Questions that come at once when the index begins to follow the chain again. */
const eagerQuestions = 6
const slowestPollMs = 15_000
/** Of the cursors that callers have, so many are tried in the end. */
const checkedCursors = 8

/** Runs one simulation; the same seed gives the same trace, byte for byte. */
export async function simulate(seed: number, folder: string): Promise<Outcome> {
  const trace: string[] = []
  const counts: Record<string, number> = {}
  let failure: string | undefined
  try {
    const scheduling = createRandom(seed)
    await inVirtualTime(
      () => scheduling.below(2 ** 30) / 2 ** 30,
      time => new Simulation(createRandom(~seed), time, folder, trace, counts).run()
    )
  } catch (error) {
    failure = error instanceof Error ? (error.stack ?? error.message) : String(error)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const digest = createHash('sha256').update(trace.join('\n')).digest('hex')
  return { seed, trace, digest, counts, ...(failure === undefined ? {} : { failure }) }
}

/** A server that lives, and its end. */
interface Life {
  readonly server: SimulatedServer
  readonly ended: Promise<void>
  end(): void
}

class Simulation {
  readonly #random: Random
  readonly #time: VirtualTime
  readonly #trace: string[]
  readonly #counts: Record<string, number>
  readonly #chain: SimulatedChain
  readonly #node: SimulatedNode
  readonly #disk: SimulatedDisk
  readonly #checker: AnswerChecker
  readonly #plan: ServerPlan
  readonly #log = createLogChecker()
  #life: Life | undefined
  #isOver = false
  /** Questions that are asked soon, because answers are likely to be other ones than before. */
  #eager = 0
  #wasFollowing = false
  /** When the machine's clock was moved for the last time. */
  #jumpedMs = Number.NEGATIVE_INFINITY
  /** Wakes those that wait for a time to ask. */
  readonly #callers: (() => void)[] = []
  /** What is left of the files when the server dies next. */
  #remains: (typeof remains)[number] = 'whole'
  #wasMisdirected = false

  constructor(
    random: Random,
    time: VirtualTime,
    folder: string,
    trace: string[],
    counts: Record<string, number>
  ) {
    this.#random = random
    this.#time = time
    this.#trace = trace
    this.#counts = counts
    const nowMs = () => time.nowMs()
    const note = (event: string) => this.#note(event)
    this.#chain = createSimulatedChain(random, nowMs)
    this.#node = createSimulatedNode(this.#chain, { random, nowMs, note })
    this.#disk = createSimulatedDisk(folder, {
      ...{ random, chainId, note },
      block: ms => time.block(ms),
      count: name => this.#count(name),
      onKill: () => this.#die()
    })
    this.#plan = drawPlan(random)
    this.#checker = createAnswerChecker(this.#chain, {
      node: this.#node,
      staleMs: staleMs + this.#plan.lowerHeadGraceMs
    })
  }

  async run(): Promise<void> {
    this.#chain.mine(this.#random.below(10))
    await this.#start()
    const callers = [this.#callAgain(), this.#callAgain(), this.#readAgain(), this.#followAgain()]
    const work = Promise.all(callers)
    const deeds = 6 + this.#random.below(14)
    const trouble = async () => {
      for (let left = deeds; left > 0; left--) {
        await this.#time.sleep(this.#random.below(this.#random.pick(pausesMs)))
        await this.#doOne()
      }
      this.#isOver = true
    }
    // Whoever fails first is the failure.
    await Promise.race([work, trouble()])
    await work
    await this.#comeToRest()
    await this.#life?.server.stop()
  }

  async #doOne(): Promise<void> {
    const random = this.#random
    const deed = random.below(23)
    if (deed < 4) this.#act('send', () => this.#chain.send(1 + random.below(3)))
    else if (deed < 9) this.#act('mine', () => this.#chain.mine(1 + random.below(3)))
    else if (deed < 12) {
      const depth = 1 + random.below(random.below(3) === 0 ? 12 : 4)
      const isShorter = random.below(5) === 0
      const added = isShorter ? random.below(depth) : depth + random.below(3)
      this.#act(`reorg ${depth}, ${added} new`, () => this.#chain.reorg(depth, added))
      // Blocks that come while the reorg is being met.
      for (let left = random.below(3); left > 0; left--) {
        await this.#time.sleep(random.below(200 + 2 * this.#node.latencyMs))
        this.#act('mine', () => this.#chain.mine(1))
      }
    } else if (deed === 12) this.#act('outbid', () => this.#chain.outbid())
    else if (deed === 13) this.#act('drop', () => this.#chain.drop())
    else if (deed === 14) {
      this.#node.mood = random.below(2) === 0 ? 'honest' : random.pick(nodeMoods)
      this.#node.lagMs = random.below(5_000)
      this.#node.latencyMs = random.pick([1, 30, 400])
      this.#note(`the node is ${this.#node.mood}, ${this.#node.lagMs} ms old`)
    } else if (deed < 18) {
      const fault = random.pick(callFaults)
      this.#remains = random.pick(remains)
      this.#disk.plan(fault, 1 + random.below(random.pick([10, 40])))
    } else if (deed === 18) {
      this.#disk.isFull = !this.#disk.isFull
      this.#note(this.#disk.isFull ? 'the disk is full' : 'the disk has space')
    } else if (deed === 19) {
      const jumpMs = random.pick([-1, 1]) * random.pick([5_000, 3_600_000, 7 * 3_600_000])
      this.#time.moveClock(jumpMs)
      this.#jumpedMs = this.#time.nowMs()
      this.#count('clock jumps')
      this.#note(`the clock jumps by ${jumpMs} ms`)
    } else if (deed > 20) {
      this.#disk.lose()
    } else if (random.below(2) === 0) {
      this.#remains = random.pick(remains)
      this.#die()
    } else await this.#restart()
  }

  #act(name: string, work: () => void): void {
    work()
    const { blocks, pool } = this.#chain.now()
    this.#note(`${name}: ${blocks.length - 1} blocks, ${pool.length} pending`)
  }

  async #start(): Promise<void> {
    let end = () => {}
    const ended = new Promise<void>(resolve => {
      end = resolve
    })
    const server = await startSimulatedServer(this.#plan, {
      ...{ disk: this.#disk, node: this.#node },
      note: event => this.#note(event),
      onEmptied: () => {
        this.#count('emptied')
        this.#checker.lostCommits()
      }
    })
    this.#life = { server, ended, end }
  }

  /** The server ends at once, wherever it is, and begins anew with what is left. */
  #die(): void {
    const life = this.#life
    if (life === undefined) return
    this.#life = undefined
    this.#note(`the server dies; its files are ${this.#remains}`)
    if (this.#remains !== 'whole') this.#checker.lostCommits()
    this.#wasMisdirected ||= this.#remains === 'misdirected'
    this.#disk.die(this.#remains)
    this.#time.kill()
    void this.#begin(life)
  }

  async #begin(dead: Life): Promise<void> {
    // What the dead one had begun runs into nothing by then.
    await this.#time.sleep(1 + this.#random.below(2_000))
    this.#time.revive()
    await this.#start()
    this.#note('the server lives again')
    dead.end()
  }

  async #restart(): Promise<void> {
    const life = this.#life
    if (life === undefined) return
    this.#life = undefined
    await life.server.stop()
    this.#note('the server has stopped')
    await this.#start()
    life.end()
  }

  async #callAgain(): Promise<void> {
    let cursor: Hash | undefined
    while (!this.#isOver) {
      await this.#untilNews(1 + this.#random.below(this.#eager > 0 ? 60 : 2_000))
      if (this.#eager > 0) this.#eager--
      const life = this.#life
      if (life === undefined) continue
      const address = this.#anyone()
      const limit = this.#random.below(2) === 0 ? undefined : 1 + this.#random.below(4)
      const known = this.#random.below(2) === 0 ? cursor : undefined
      const asking = this.#ask(life.server, address, limit, known).catch((error: unknown) => {
        // Of a server that has ended meanwhile.
        if (life === this.#life) throw error
      })
      const told = await Promise.race([life.ended, asking])
      if (told === undefined || life !== this.#life) continue
      this.#judge(told)
      if (told.answer.kind !== 'records') continue
      const mined = told.answer.records.filter(({ status }) => status > 1)
      // The newest ones are those that a reorg removes.
      cursor = mined[this.#random.below(Math.min(2, mined.length))]?.hash ?? cursor
    }
  }

  /** Waits, but no longer than until the index begins to follow the chain again. */
  #untilNews(ms: number): Promise<void> {
    return new Promise(resolve => {
      this.#callers.push(resolve)
      void this.#time.sleep(ms).then(resolve)
    })
  }

  #judge(told: Told): void {
    const problem = this.#checker.check(told)
    if (problem !== undefined) throw new Error(`wrong answer: ${problem}\n${JSON.stringify(told, null, 1)}`)
  }

  async #ask(
    { history, status }: SimulatedServer,
    address: Address,
    limit: number | undefined,
    before: Hash | undefined
  ): Promise<Told> {
    const page = { ...(limit === undefined ? {} : { limit }), ...(before === undefined ? {} : { before }) }
    const asked = { address, ...page, askedMs: this.#time.nowMs() }
    const answer = await readAnswer(history, address, page)
    if (answer.kind === 'refused' && answer.reason === 'INDEX_DAMAGED') this.#requireFlip()
    const what =
      answer.kind === 'records' ? `${answer.records.length} of ${answer.from} to ${answer.to}` : answer.reason
    this.#count(answer.kind === 'records' ? 'answers' : answer.reason)
    if (answer.kind === 'records' && answer.from > 0) this.#count('partial')
    this.#note(`asked for ${address.slice(-4)} ${limit ?? ''} ${before?.slice(0, 8) ?? ''}: ${what}`)
    const { poolSeenAtMs } = status()
    const toldMs = this.#time.nowMs()
    const isKnown = poolSeenAtMs !== undefined && toldMs - this.#jumpedMs > poolFreshMs
    const seen = isKnown ? { poolSeenMs: toldMs - (Date.now() - poolSeenAtMs) } : {}
    return { ...asked, ...seen, toldMs, answer }
  }

  /** Reads snapshots slowly. */
  async #readAgain(): Promise<void> {
    while (!this.#isOver) {
      await this.#time.sleep(1 + this.#random.below(6_000))
      const life = this.#life
      if (life === undefined) continue
      const slow = this.#random.below(3) === 0
      const read = this.#readSnapshot(life.server, this.#anyone(), async () => {
        if (slow) await this.#time.sleep(this.#random.below(1_500))
      })
      const problem = await Promise.race([life.ended, read])
      if (life === this.#life && problem !== undefined) throw new Error(`wrong snapshot: ${problem}`)
    }
  }

  async #readSnapshot({ reader }: SimulatedServer, address: Address, pauseBetween: () => Promise<void>) {
    const life = this.#life
    try {
      const problem = await checkSnapshot(reader, this.#chain, address, pauseBetween)
      this.#note(`snapshot of ${address.slice(-4)}: ${problem ?? 'right'}`)
      this.#count('snapshots')
      return problem
    } catch (error) {
      // Of a server that has ended meanwhile.
      if (life !== this.#life) return undefined
      if (!(error instanceof IndexDamagedError)) throw error
      this.#requireFlip()
      this.#count('damaged snapshots')
      this.#note(`snapshot of ${address.slice(-4)}: ${error.message}`)
      return undefined
    }
  }

  /** Follows the log of changes, through all lives of the server. */
  async #followAgain(): Promise<void> {
    while (!this.#isOver) {
      await this.#time.sleep(1 + this.#random.below(this.#random.pick([300, 4_000])))
      const life = this.#life
      if (life === undefined) continue
      const failure = await Promise.race([life.ended, this.#followLog(life.server)])
      if (life === this.#life && failure !== undefined) throw failure
    }
  }

  async #followLog({ reader }: SimulatedServer): Promise<unknown> {
    const life = this.#life
    try {
      const result = await this.#log.check(reader)
      this.#count(`log ${result}`)
      this.#note(`log of changes: ${result}`)
      return undefined
    } catch (error) {
      // Of a server that has ended meanwhile.
      if (life !== this.#life) return undefined
      if (!(error instanceof IndexDamagedError)) return error
      this.#requireFlip()
      this.#note(`log of changes: ${error.message}`)
      return undefined
    }
  }

  /** Nothing but a lost bit is damage. */
  #requireFlip(): void {
    if (this.#disk.flips === 0) throw new Error('the index is called damaged, and no bit was lost')
  }

  /** No more faults: within some time everything is answered again, and right. */
  async #comeToRest(): Promise<void> {
    this.#disk.calm()
    this.#node.mood = 'honest'
    this.#node.latencyMs = 30
    // A chain that is shorter than its final blocks is waited for.
    const highest = Math.max(...this.#chain.states.map(({ blocks }) => blocks.length))
    this.#act('calm', () => this.#chain.mine(highest + 1 - this.#chain.now().blocks.length))
    const lastMs = this.#time.nowMs() + calmMs
    const newest = this.#chain.now().blocks.at(-1)?.ref.hash
    for (;;) {
      const status = this.#life?.server.status()
      const isLevel = status?.phase === 'following' && status.indexedTo?.hash === newest
      if (isLevel && status.indexedFrom === 0) break
      if (this.#time.nowMs() > lastMs) {
        // A sector of the log that was written elsewhere may leave pages of two ages: it is said, and nothing else helps.
        if (this.#wasMisdirected && status?.problem?.endsWith('or run chain-data reset')) {
          return this.#count('lost')
        }
        throw new Error(`not level: ${JSON.stringify(status)}`)
      }
      await this.#time.sleep(200)
    }
    while ((await this.#damaged()) > 0) {
      if (this.#time.nowMs() > lastMs) {
        throw new Error(`not healed: ${JSON.stringify(this.#life?.server.status())}`)
      }
      await this.#time.sleep(1_000)
    }
    await this.#checkAll()
  }

  /** @returns the number of damaged parts of the whole index. */
  async #damaged(): Promise<number> {
    const server = this.#life?.server
    if (server === undefined) return 1
    let found = 0
    for await (const { damage } of walkIndex(server.reader)) found += damage.length
    return found
  }

  async #checkAll(): Promise<void> {
    const server = this.#life?.server
    if (server === undefined) throw new Error('no server lives in the end')
    // Twice: the first one may begin anew.
    for (let left = 2; left > 0; left--) {
      const failure = await this.#followLog(server)
      if (failure !== undefined) throw failure
    }
    for (const address of people) {
      const problem = await checkSnapshot(server.reader, this.#chain, address, async () => {})
      if (problem !== undefined) throw new Error(`wrong in the end: ${problem}`)
      await this.#checkNewest(server, address)
    }
    for (const hash of [...this.#checker.confirmed].slice(-checkedCursors)) {
      const told = await this.#ask(server, people[0] as Address, 1, hash)
      this.#judge(told)
      if (told.answer.kind === 'refused' && told.answer.reason === 'UPSTREAM_UNAVAILABLE') {
        throw new Error(`the cursor ${hash} is refused in the end`)
      }
    }
  }

  /** What is pending is known once the pool was polled again, which happens seldom while its answers are slow. */
  async #checkNewest(server: SimulatedServer, address: Address): Promise<void> {
    const lastMs = this.#time.nowMs() + slowestPollMs
    for (;;) {
      const told = await this.#ask(server, address, undefined, undefined)
      this.#judge(told)
      const { answer } = told
      const records = answer.kind === 'records' ? answer.records : undefined
      const shown = records?.flatMap(({ hash, status }) => (status < 2 ? [hash] : [])).sort()
      const { pool } = this.#chain.now()
      const waiting = pool.filter(({ from, to }) => from === address || to === address)
      if (
        shown?.join() ===
        waiting
          .map(({ hash }) => hash)
          .sort()
          .join()
      )
        return
      if (this.#time.nowMs() > lastMs) throw new Error(`refused, or another pool of ${address} in the end`)
      await this.#time.sleep(500)
    }
  }

  #anyone(): Address {
    // Most of them send and receive.
    return people[this.#random.below(this.#random.below(4) === 0 ? people.length : 5)] as Address
  }

  #count(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1
  }

  #note(event: string): void {
    const isFollowing = event.startsWith('status: following')
    if (isFollowing && !this.#wasFollowing) {
      this.#eager = eagerQuestions
      for (const wake of this.#callers.splice(0)) wake()
    }
    if (event.startsWith('status: ')) this.#wasFollowing = isFollowing
    this.#trace.push(`${Math.round(this.#time.nowMs())} ${event}`)
  }
}
