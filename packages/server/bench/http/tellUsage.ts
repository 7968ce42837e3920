import type { Usage } from './messages.ts'

/** Answers the message `usage`, and ends the process together with its parent. */
export function tellUsage(): void {
  process.on('message', message => {
    if (message !== 'usage') return
    const { rss, heapUsed, external } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    const usage: Usage = {
      cpuMs: (user + system) / 1000,
      rssBytes: rss,
      heapBytes: heapUsed,
      externalBytes: external
    }
    process.send?.(usage)
  })
  process.once('disconnect', () => process.exit(0))
}
