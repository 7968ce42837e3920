import { eventually } from '@chain-data/index/test'
import { expect, it } from 'vitest'
import { createMetricsPage } from '../../../server/metrics/metricsPage.ts'
import { addProcessMetrics } from './processMetrics.ts'

/** As prom-client 15 names and describes them, which dashboards for Node rely on. */
const known = `
counter process_cpu_user_seconds_total Total user CPU time spent in seconds.
counter process_cpu_system_seconds_total Total system CPU time spent in seconds.
counter process_cpu_seconds_total Total user and system CPU time spent in seconds.
gauge process_start_time_seconds Start time of the process since unix epoch in seconds.
gauge process_resident_memory_bytes Resident memory size in bytes.
gauge process_virtual_memory_bytes Virtual memory size in bytes.
gauge process_heap_bytes Process heap size in bytes.
gauge process_open_fds Number of open file descriptors.
gauge process_max_fds Maximum number of open file descriptors.
gauge nodejs_eventloop_lag_seconds Lag of event loop in seconds.
gauge nodejs_eventloop_lag_min_seconds The minimum recorded event loop delay.
gauge nodejs_eventloop_lag_max_seconds The maximum recorded event loop delay.
gauge nodejs_eventloop_lag_mean_seconds The mean of the recorded event loop delays.
gauge nodejs_eventloop_lag_stddev_seconds The standard deviation of the recorded event loop delays.
gauge nodejs_eventloop_lag_p50_seconds The 50th percentile of the recorded event loop delays.
gauge nodejs_eventloop_lag_p90_seconds The 90th percentile of the recorded event loop delays.
gauge nodejs_eventloop_lag_p99_seconds The 99th percentile of the recorded event loop delays.
gauge nodejs_active_resources Number of active resources that are currently keeping the event loop alive, grouped by async resource type.
gauge nodejs_active_resources_total Total number of active resources.
gauge nodejs_active_handles Number of active libuv handles grouped by handle type. Every handle type is C++ class name.
gauge nodejs_active_handles_total Total number of active handles.
gauge nodejs_active_requests Number of active libuv requests grouped by request type. Every request type is C++ class name.
gauge nodejs_active_requests_total Total number of active requests.
gauge nodejs_heap_size_total_bytes Process heap size from Node.js in bytes.
gauge nodejs_heap_size_used_bytes Process heap size used from Node.js in bytes.
gauge nodejs_external_memory_bytes Node.js external memory size in bytes.
gauge nodejs_heap_space_size_total_bytes Process heap space size total from Node.js in bytes.
gauge nodejs_heap_space_size_used_bytes Process heap space size used from Node.js in bytes.
gauge nodejs_heap_space_size_available_bytes Process heap space size available from Node.js in bytes.
gauge nodejs_version_info Node.js version info.
histogram nodejs_gc_duration_seconds Garbage collection duration by kind, one of major, minor, incremental or weakcb.
`

function readPage() {
  const page = createMetricsPage('')
  addProcessMetrics(page)
  return { page, sampleOf: (sample: string) => findSample(page.render(), sample) }
}

function findSample(text: string, sample: string): number | undefined {
  const line = text.split('\n').find(each => each.startsWith(`${sample} `))
  return line === undefined ? undefined : Number(line.slice(sample.length + 1))
}

it('has the names, types and help texts that dashboards know', () => {
  const described = readPage()
    .page.render()
    .matchAll(/^# HELP (\w+) (.*)\n# TYPE \1 (\w+)$/gm)
  expect([...described].map(([, name, help, type]) => `${type} ${name} ${help}`)).toEqual(
    known.trim().split('\n')
  )
})

it('reads the process at every scrape', async () => {
  const { page, sampleOf } = readPage()
  const [major = ''] = process.versions.node.split('.')
  expect(page.render()).toContain(`nodejs_version_info{version="${process.version}",major="${major}",`)
  expect(sampleOf('nodejs_heap_size_used_bytes')).toBeGreaterThan(1_000_000)
  expect(sampleOf('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
  expect(sampleOf('process_start_time_seconds')).toBeCloseTo(Date.now() / 1_000 - process.uptime(), -1)
  expect(sampleOf('nodejs_heap_space_size_used_bytes{space="old"}')).toBeGreaterThan(100_000)
  expect(sampleOf('nodejs_active_handles_total')).toBeGreaterThan(0)
  const text = page.render()
  const resources = [...text.matchAll(/^nodejs_active_resources\{type="\w+"\} (\d+)$/gm)]
  expect(resources.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(
    findSample(text, 'nodejs_active_resources_total')
  )
  await eventually('a turn of the event loop was timed', () => sampleOf('nodejs_eventloop_lag_seconds'))
  await eventually('CPU time was spent', () => sampleOf('process_cpu_seconds_total'))
})

it('shows the delays of the event loop since the last scrape', async () => {
  const { sampleOf } = readPage()
  // The timer that measures is due after 10 ms each time, so before these.
  const turn = () => new Promise(resolve => setTimeout(resolve, 20))
  await turn()
  const startedMs = performance.now()
  while (performance.now() - startedMs < 300);
  await turn()
  expect(sampleOf('nodejs_eventloop_lag_max_seconds')).toBeGreaterThan(0.2)
  expect(sampleOf('nodejs_eventloop_lag_max_seconds')).toBe(0)
})

it.runIf(process.platform === 'linux')('shows open files and memory of Linux', () => {
  const { sampleOf } = readPage()
  expect(sampleOf('process_open_fds')).toBeGreaterThan(3)
  expect(sampleOf('process_max_fds')).toBeGreaterThanOrEqual(sampleOf('process_open_fds') ?? Infinity)
  expect(sampleOf('process_virtual_memory_bytes')).toBeGreaterThan(
    sampleOf('process_resident_memory_bytes') ?? Infinity
  )
  expect(sampleOf('process_heap_bytes')).toBeGreaterThan(1_000_000)
})

it('counts garbage collections by kind', async () => {
  const { sampleOf } = readPage()
  const fill = () => Array.from({ length: 200_000 }, (_, n) => ({ n }))
  const counted = () => fill().length > 0 && sampleOf('nodejs_gc_duration_seconds_count{kind="minor"}')
  const count = await eventually('a collection was seen', counted)
  const all = sampleOf('nodejs_gc_duration_seconds_bucket{kind="minor",le="+Inf"}')
  expect(all).toBeGreaterThanOrEqual(count)
  expect(sampleOf('nodejs_gc_duration_seconds_sum{kind="minor"}')).toBeGreaterThan(0)
})
