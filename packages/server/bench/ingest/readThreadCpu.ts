import { existsSync, readdirSync, readFileSync } from 'node:fs'

const folder = '/proc/self/task'
/** Of the kernel's clock, which is 100 Hz wherever Node runs. */
const msPerTick = 10

/** Processor time of this process so far, by thread, each `decoder` by itself; absent on systems other than Linux. @see proc_pid_stat(5) */
export function readThreadCpu(): Readonly<Record<string, number>> | undefined {
  if (!existsSync(folder)) return undefined
  const times: Record<string, number> = { indexer: 0, writer: 0, main: 0, other: 0 }
  let decoders = 0
  for (const thread of readdirSync(folder)) {
    const stat = readFileSync(`${folder}/${thread}/stat`, 'utf8')
    const end = stat.lastIndexOf(')')
    const name = stat.slice(stat.indexOf('(') + 1, end)
    const fields = stat.slice(end + 2).split(' ')
    const found = kinds.find(([, pattern]) => pattern.test(name))?.[0] ?? 'other'
    const kind = found === 'decoder' ? `decoder${++decoders}` : found
    // utime and stime.
    times[kind] = (times[kind] ?? 0) + (Number(fields[11]) + Number(fields[12])) * msPerTick
  }
  return times
}

const kinds = [
  ['indexer', /^indexer/],
  ['writer', /^writer/],
  ['decoder', /^decoder/],
  ['main', /^(MainThread|node)$/]
] as const
