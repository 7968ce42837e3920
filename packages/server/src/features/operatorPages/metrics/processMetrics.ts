import { readdirSync, readFileSync } from 'node:fs'
import {
  constants,
  monitorEventLoopDelay,
  type NodeGCPerformanceDetail,
  PerformanceObserver
} from 'node:perf_hooks'
import { getHeapSpaceStatistics } from 'node:v8'
import { createHistogram } from '../../../platform/figures.ts'
import { type MetricsPage, metricsOf, rowsBy } from '../../../server/metrics/metricsPage.ts'

/** Upper bounds, in seconds, of the duration of a garbage collection. */
const collectionBounds = [0.001, 0.01, 0.1, 1, 2, 5] as const

/**
 * Adds memory, CPU, open files, event loop and garbage collection of this process, under the names that dashboards
 * for Node know from prom-client.
 *
 * @param page - Adds no prefix to names.
 * @remarks Open files, and memory other than the resident, are shown on Linux only. The delay of the event loop and
 *   garbage collections are measured from this call on, and so is CPU time.
 */
export function addProcessMetrics(page: MetricsPage): void {
  addCpuMetrics(page)
  addMemoryMetrics(page)
  addFileMetrics(page)
  addEventLoopMetrics(page)
  addActivityMetrics(page)
  addHeapMetrics(page)
  const { version } = process
  const [major = '', minor = '', patch = ''] = version.slice(1).split('.')
  page.gauge('nodejs_version_info', 'Node.js version info.', () => [[{ version, major, minor, patch }, 1]])
  addCollectionMetrics(page)
}

function addCpuMetrics(page: MetricsPage): void {
  const atStart = process.cpuUsage()
  const { counter } = metricsOf(page, () => [process.cpuUsage(atStart)])
  counter('process_cpu_user_seconds', 'Total user CPU time spent in seconds.', c => c.user / 1e6)
  counter('process_cpu_system_seconds', 'Total system CPU time spent in seconds.', c => c.system / 1e6)
  const bothHelp = 'Total user and system CPU time spent in seconds.'
  counter('process_cpu_seconds', bothHelp, c => (c.user + c.system) / 1e6)
}

function addMemoryMetrics(page: MetricsPage): void {
  const startSeconds = Math.round(Date.now() / 1_000 - process.uptime())
  const startHelp = 'Start time of the process since unix epoch in seconds.'
  page.gauge('process_start_time_seconds', startHelp, () => [[{}, startSeconds]])
  const { gauge } = metricsOf(page, () => [tryRead('/proc/self/status')])
  gauge(
    'process_resident_memory_bytes',
    'Resident memory size in bytes.',
    status => bytesOf(status, 'VmRSS') ?? process.memoryUsage.rss()
  )
  gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.', s => bytesOf(s, 'VmSize'))
  gauge('process_heap_bytes', 'Process heap size in bytes.', s => bytesOf(s, 'VmData'))
}

function addFileMetrics(page: MetricsPage): void {
  page.gauge('process_open_fds', 'Number of open file descriptors.', () => [[{}, countOpenFiles()]])
  const [, limit] = /^Max open files +(\d+)/m.exec(tryRead('/proc/self/limits')) ?? []
  const limitHelp = 'Maximum number of open file descriptors.'
  page.gauge('process_max_fds', limitHelp, () => [[{}, limit === undefined ? undefined : Number(limit)]])
}

function addEventLoopMetrics(page: MetricsPage): void {
  const delays = monitorEventLoopDelay({ resolution: 10 })
  delays.enable()
  let lagSeconds = 0
  let seen = { min: 0, max: 0, mean: 0, stddev: 0, p50: 0, p90: 0, p99: 0 }
  // The first metric of this group takes the delays since the last scrape for the others, too.
  page.gauge('nodejs_eventloop_lag_seconds', 'Lag of event loop in seconds.', () => {
    const { min, max, mean, stddev } = delays
    const [p50, p90, p99] = [delays.percentile(50), delays.percentile(90), delays.percentile(99)]
    seen = { min, max, mean, stddev, p50, p90, p99 }
    delays.reset()
    const startedMs = performance.now()
    setImmediate(() => {
      lagSeconds = (performance.now() - startedMs) / 1_000
    })
    return [[{}, lagSeconds]]
  })
  const { gauge } = metricsOf(page, () => [seen], { prefix: 'nodejs_eventloop_lag_' })
  gauge('min_seconds', 'The minimum recorded event loop delay.', s => s.min / 1e9)
  gauge('max_seconds', 'The maximum recorded event loop delay.', s => s.max / 1e9)
  gauge('mean_seconds', 'The mean of the recorded event loop delays.', s => s.mean / 1e9)
  gauge('stddev_seconds', 'The standard deviation of the recorded event loop delays.', s => s.stddev / 1e9)
  gauge('p50_seconds', 'The 50th percentile of the recorded event loop delays.', s => s.p50 / 1e9)
  gauge('p90_seconds', 'The 90th percentile of the recorded event loop delays.', s => s.p90 / 1e9)
  gauge('p99_seconds', 'The 99th percentile of the recorded event loop delays.', s => s.p99 / 1e9)
}

/** Adds what keeps the event loop alive. Handles and requests come from undocumented functions of Node, where it has them. */
function addActivityMetrics(page: MetricsPage): void {
  const { _getActiveHandles: handles, _getActiveRequests: requests } = process as {
    readonly _getActiveHandles?: () => readonly (object | null)[]
    readonly _getActiveRequests?: () => readonly (object | null)[]
  }
  const classesOf = (list: readonly (object | null)[] = []) =>
    list.map(each => each?.constructor?.name ?? 'Object')
  const kinds = [
    {
      name: 'nodejs_active_resources',
      help: 'Number of active resources that are currently keeping the event loop alive, grouped by async resource type.',
      totalHelp: 'Total number of active resources.',
      read: () => process.getActiveResourcesInfo()
    },
    {
      name: 'nodejs_active_handles',
      help: 'Number of active libuv handles grouped by handle type. Every handle type is C++ class name.',
      totalHelp: 'Total number of active handles.',
      read: () => classesOf(handles?.call(process))
    },
    {
      name: 'nodejs_active_requests',
      help: 'Number of active libuv requests grouped by request type. Every request type is C++ class name.',
      totalHelp: 'Total number of active requests.',
      read: () => classesOf(requests?.call(process))
    }
  ]
  for (const { name, help, totalHelp, read } of kinds) {
    page.gauge(name, help, () => {
      const counts = new Map<string, number>()
      for (const type of read()) counts.set(type, (counts.get(type) ?? 0) + 1)
      return rowsBy('type', counts)
    })
    page.gauge(`${name}_total`, totalHelp, () => [[{}, read().length]])
  }
}

function addHeapMetrics(page: MetricsPage): void {
  const { gauge } = metricsOf(page, () => [process.memoryUsage()])
  gauge('nodejs_heap_size_total_bytes', 'Process heap size from Node.js in bytes.', m => m.heapTotal)
  gauge('nodejs_heap_size_used_bytes', 'Process heap size used from Node.js in bytes.', m => m.heapUsed)
  gauge('nodejs_external_memory_bytes', 'Node.js external memory size in bytes.', m => m.external)
  const spaces = metricsOf(page, getHeapSpaceStatistics, {
    prefix: 'nodejs_heap_space_size_',
    labels: ({ space_name }) => ({ space: space_name.replace(/_space$/, '') })
  })
  const helpOf = (size: string) => `Process heap space size ${size} from Node.js in bytes.`
  spaces.gauge('total_bytes', helpOf('total'), s => s.space_size)
  spaces.gauge('used_bytes', helpOf('used'), s => s.space_used_size)
  spaces.gauge('available_bytes', helpOf('available'), s => s.space_available_size)
}

function addCollectionMetrics(page: MetricsPage): void {
  const kinds = new Map([
    [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
    [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
    [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
    [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb']
  ])
  const durations = new Map<string, ReturnType<typeof createHistogram>>()
  const observer = new PerformanceObserver(list => {
    for (const entry of list.getEntries()) {
      // Its types know `detail` of marks and measures only.
      const { detail } = entry as typeof entry & { readonly detail?: NodeGCPerformanceDetail }
      const kind = kinds.get(detail?.kind ?? -1)
      if (kind === undefined) continue
      const histogram = durations.get(kind) ?? createHistogram(collectionBounds)
      durations.set(kind, histogram)
      histogram.note(entry.duration / 1_000)
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  page.histogram(
    'nodejs_gc_duration_seconds',
    'Garbage collection duration by kind, one of major, minor, incremental or weakcb.',
    { counted: collectionBounds },
    () => [...durations].map(([kind, histogram]) => [{ kind }, histogram.read()])
  )
}

/** Reads a file of /proc; empty where there is none. */
function tryRead(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Reads a size of /proc/self/status, which it gives in KiB. */
function bytesOf(status: string, name: string): number | undefined {
  const [, size] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? []
  return size === undefined ? undefined : Number(size) * 1024
}

function countOpenFiles(): number | undefined {
  try {
    // One of them reads the folder.
    return readdirSync('/proc/self/fd').length - 1
  } catch {
    return undefined
  }
}
