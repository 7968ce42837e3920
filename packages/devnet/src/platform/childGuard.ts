import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Makes sure that a child process does not outlive this one, however this one ends: even by SIGKILL.
 *
 * A tiny shell waits for its input to close, which the system does when this process is gone, and then ends the
 * child. Where there is no such shell (Windows), only a regular exit is covered.
 */
export function guardChild(child: ChildProcess): void {
  const { pid } = child
  if (pid === undefined) return
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.removeListener('exit', kill))
  if (process.platform === 'win32') return

  const keeper = spawn('/bin/sh', ['-c', 'read -r _; kill -9 "$0" 2>/dev/null', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Ctrl-C reaches the whole group of a terminal: the keeper must not be ended by it.
    detached: true
  })
  keeper.unref()
  keeper.once('error', () => undefined)
  keeper.stdin.once('error', () => undefined)
  const pipe = keeper.stdin as typeof keeper.stdin & { unref?(): void }
  pipe.unref?.()
  // The id of a process that has ended may be given to another: the keeper goes first.
  child.once('exit', () => keeper.kill('SIGKILL'))
}

/**
 * Ends one child process by its id and waits until it is gone.
 *
 * @param graceMs - How long it may take to end by itself before it is killed.
 */
export function stopChild(child: ChildProcess, graceMs = 2000): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null)
    return Promise.resolve()
  return new Promise(resolve => {
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve()
    })
    child.kill('SIGTERM')
  })
}
