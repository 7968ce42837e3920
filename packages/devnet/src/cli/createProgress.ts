import cliProgress from 'cli-progress'

/** Shows how far something with a known end has come. */
export interface Progress {
  /** @param total - May grow on the way. */
  update(done: number, total: number): void
  /** Leaves the last state standing. */
  stop(): void
}

/** Where it is shown. */
export interface ProgressOutput {
  write(text: string): unknown
  isTTY?: boolean
  /** Width of the terminal; elsewhere absent. */
  columns?: number
}

/**
 * A bar on a terminal; elsewhere a plain line whenever another tenth is done, so that a log stays short.
 *
 * @param label - What is being counted, at the start of the line.
 */
export function createProgress(label: string, unit: string, output: ProgressOutput): Progress {
  if (output.isTTY) return createBar(label, unit, output)
  let shown = -1
  let line = ''
  const show = (done: number, total: number) => {
    const next = `${label}: ${done} of ${total} ${unit}\n`
    if (next !== line) output.write(next)
    line = next
  }
  let last: [number, number] | undefined
  return {
    update(done, total) {
      last = [done, total]
      const tenth = total === 0 ? 0 : Math.floor((done / total) * 10)
      if (tenth === shown) return
      shown = tenth
      show(done, total)
    },
    stop() {
      if (last !== undefined) show(...last)
    }
  }
}

function createBar(label: string, unit: string, output: ProgressOutput): Progress {
  const bar = new cliProgress.SingleBar(
    {
      format: `${label} {bar} {value} of {total} ${unit}, {duration_formatted}`,
      stream: output as NodeJS.WritableStream,
      hideCursor: true,
      fps: 10
    },
    cliProgress.Presets.shades_classic
  )
  let started = false
  return {
    update(done, total) {
      if (!started) bar.start(total, done)
      started = true
      bar.setTotal(total)
      bar.update(done)
    },
    stop() {
      if (started) bar.stop()
    }
  }
}
