/** Where progress is shown. */
export interface ProgressOutput {
  write(text: string): unknown
  isTTY?: boolean
}

/** Shows how many checks are done. */
export interface Progress {
  update(done: number, total: number): void
  /** Takes the bar away. */
  stop(): void
}

const width = 30

/** A bar in one line of a terminal; elsewhere nothing, because the report says it all. */
export function createProgress(output: ProgressOutput): Progress {
  if (output.isTTY !== true) return { update() {}, stop() {} }
  let shown = ''
  return {
    update(done, total) {
      const filled = Math.round((done / total) * width)
      const line = `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${done} of ${total} checks`
      if (line !== shown) output.write(`\r${line}`)
      shown = line
    },
    stop() {
      if (shown !== '') output.write(`\r${' '.repeat(shown.length)}\r`)
    }
  }
}
