import { type Profiler, Session } from 'node:inspector/promises'

/** Functions that ran: where they begin, by the URL of their file. What a module does while it loads is left out. */
export type Executed = ReadonlyMap<string, ReadonlySet<number>>

export interface Coverage {
  /** Returns the functions that were called since the last time, and counts from zero again. */
  take(): Promise<Executed>
  stop(): void
}

interface WorkerAnswer {
  readonly id: number
  readonly result?: Profiler.TakePreciseCoverageReturnType
}

/**
 * Starts V8's precise coverage. Worker threads are reached through their inspectors, so nothing has to be loaded into them;
 * threads that start later are not counted.
 *
 * @param threads - `all`: this thread and its worker threads; `workers`: these only.
 * @param folders - URLs, with a slash at the end; files elsewhere do not count.
 */
export async function startCoverage(
  threads: 'all' | 'workers',
  folders: readonly string[]
): Promise<Coverage> {
  const session = new Session()
  session.connect()
  const workers = new Set<string>()
  const waiting = new Map<number, (answer: WorkerAnswer) => void>()
  let lastId = 0
  session.on('NodeWorker.attachedToWorker', ({ params }) => workers.add(params.sessionId))
  session.on('NodeWorker.detachedFromWorker', ({ params }) => workers.delete(params.sessionId))
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    const answer = JSON.parse(params.message) as WorkerAnswer
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })

  async function postToWorker(sessionId: string, method: string, params?: object): Promise<WorkerAnswer> {
    const id = ++lastId
    const answer = new Promise<WorkerAnswer>(done => waiting.set(id, done))
    const message = JSON.stringify({ id, method, params })
    await session.post('NodeWorker.sendMessageToWorker', { sessionId, message })
    return await answer
  }

  const counting = { callCount: true, detailed: false }
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', counting)
  await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  for (const worker of workers) {
    await postToWorker(worker, 'Profiler.enable')
    await postToWorker(worker, 'Profiler.startPreciseCoverage', counting)
  }

  return {
    async take() {
      const [own, ...others] = await Promise.all([
        session.post('Profiler.takePreciseCoverage'),
        ...[...workers].map(
          async worker => (await postToWorker(worker, 'Profiler.takePreciseCoverage')).result
        )
      ])
      const scripts = [...(threads === 'all' ? [own] : []), ...others].flatMap(answer => answer?.result ?? [])
      const executed = new Map<string, Set<number>>()
      for (const { url, functions } of scripts) {
        if (!folders.some(folder => url.startsWith(folder))) continue
        const begins = functions.filter(wasCalled).map(({ ranges }) => ranges[0]?.startOffset ?? 0)
        if (begins.length > 0) executed.set(url, new Set([...(executed.get(url) ?? []), ...begins]))
      }
      return executed
    },
    stop: () => session.disconnect()
  }
}

/** A function without a name that begins where the file begins is the module itself. */
function wasCalled({ functionName, ranges: [whole] }: Profiler.FunctionCoverage): boolean {
  if (whole === undefined || whole.count === 0) return false
  return functionName !== '' || whole.startOffset > 0
}

/** @returns the functions that ran every time. */
export function intersect([first = new Map(), ...others]: readonly Executed[]): Executed {
  return keep(first, (url, begin) => others.every(other => other.get(url)?.has(begin)))
}

export function subtract(executed: Executed, other: Executed): Executed {
  return keep(executed, (url, begin) => !other.get(url)?.has(begin))
}

function keep(executed: Executed, isKept: (url: string, begin: number) => boolean): Executed {
  return new Map(
    [...executed]
      .map(([url, begins]) => [url, new Set([...begins].filter(begin => isKept(url, begin)))] as const)
      .filter(([, begins]) => begins.size > 0)
  )
}
