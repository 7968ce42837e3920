import type { ChildProcess } from 'node:child_process'

const running = new Set<ChildProcess>()

function killAll() {
  for (const child of running) child.kill('SIGKILL')
}

/** Makes sure that a child process does not outlive this one, whichever way this one ends by itself. */
export function guardChild(child: ChildProcess): void {
  if (running.size === 0) process.once('exit', killAll)
  running.add(child)
  child.once('exit', () => {
    running.delete(child)
    if (running.size === 0) process.removeListener('exit', killAll)
  })
}

/**
 * Ends one child process by its id and waits until it is gone.
 *
 * @param graceMs - How long it may take to end by itself before it is killed.
 */
export function stopChild(child: ChildProcess, graceMs = 2000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise(resolve => {
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve()
    })
    child.kill('SIGTERM')
  })
}
