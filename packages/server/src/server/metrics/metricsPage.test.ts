import { expect, it } from 'vitest'
import { createMetricsPage } from './metricsPage.ts'

it('writes each metric with help, type and samples, in the text format of Prometheus', () => {
  const page = createMetricsPage('p_')
  page.counter('calls', 'Calls.', () => [
    [{ method: 'a', status: 200 }, 3],
    [{ method: 'b', status: 404 }, undefined]
  ])
  page.gauge('ready', 'Whether it is ready.', () => [[{}, true]])
  page.gauge('unseen', 'Nothing yet.', () => [])
  const bounds = { counted: [0.5, 1, 2], shown: [1, 2] }
  page.histogram('time_seconds', 'Time.', bounds, () => [
    [{ method: 'a' }, { counts: [1, 2, 3, 4], sum: 12.5 }]
  ])
  expect(page.render()).toBe(`# HELP p_calls_total Calls.
# TYPE p_calls_total counter
p_calls_total{method="a",status="200"} 3

# HELP p_ready Whether it is ready.
# TYPE p_ready gauge
p_ready 1

# HELP p_unseen Nothing yet.
# TYPE p_unseen gauge

# HELP p_time_seconds Time.
# TYPE p_time_seconds histogram
p_time_seconds_bucket{method="a",le="1"} 3
p_time_seconds_bucket{method="a",le="2"} 6
p_time_seconds_bucket{method="a",le="+Inf"} 10
p_time_seconds_sum{method="a"} 12.5
p_time_seconds_count{method="a"} 10
`)
})

it('escapes label values and help, and writes numbers that JSON lacks', () => {
  const page = createMetricsPage('')
  page.gauge('g', 'a\\b\nc "d"', () => [
    [{ text: 'a\\b\nc "d"' }, Infinity],
    [{ text: '' }, -Infinity],
    [{ text: '-' }, Number.NaN]
  ])
  expect(page.render()).toBe(`# HELP g a\\\\b\\nc "d"
# TYPE g gauge
g{text="a\\\\b\\nc \\"d\\""} +Inf
g{text=""} -Inf
g{text="-"} NaN
`)
})
