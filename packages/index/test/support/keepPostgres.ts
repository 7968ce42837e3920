import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** One server that runs over a folder, and its ends. */
export interface KeptPostgres {
  /** Ends it in order: connections are cut, what was committed is on disk. It is away until `start`. */
  halt(): Promise<void>
  /** Ends it as a crash of its process would; the next start has to recover. It is away until `start`. */
  crash(): Promise<void>
  /**
   * Ends its main process with `kill -9`. Its other processes end by themselves a moment later; until then `start` fails.
   */
  kill(): Promise<void>
  start(): Promise<void>
  /** Ends it at once and removes the folder. */
  stop(): Promise<void>
}

/** Whom it runs as; absent: as the test itself. */
export interface SystemUser {
  readonly uid: number
  readonly gid: number
}

const isReady = /database system is ready to accept (read-only )?connections/
const hasEnded = 'the server of the test has ended'

/**
 * Runs the server, each time again that it ended and the file `again` was made, until the input ends. The system sees to
 * that when the test process is gone, whatever ended it; then removes the folder. `$1` is the folder, the rest the command.
 * Nobody may be left to read what the shell says of the end, and that must not be the end of the shell. It also ends when the
 * folder is gone: the end of a run may remove it first.
 */
const keeper = `
folder=$1; shift
exec 3<&0 4>&2 2>/dev/null
trap '' PIPE
(
  cat <&3 >/dev/null
  touch "$folder/over"
  while [ -d "$folder" ]; do kill -QUIT "$(cat "$folder/pid")"; sleep 0.1; done
  kill -KILL -$$
) & watcher=$!
until [ -e "$folder/over" ] || [ ! -d "$folder" ]; do
  "$@" 2>&4 3<&- & server=$!
  echo $server >"$folder/pid"
  wait $server
  echo '${hasEnded}' >&4
  until [ -e "$folder/over" ] || [ ! -d "$folder" ] || rm "$folder/again"; do sleep 0.02; done
done
kill $watcher
rm -rf "$folder"
`

/**
 * Starts a server over `folder`, which holds its data and its socket, and sees to its end.
 * @param command - the program and its arguments; it must stay in the foreground and log to its standard error.
 */
export async function keepPostgres(
  folder: string,
  command: readonly string[],
  user: SystemUser | undefined
): Promise<KeptPostgres> {
  const child = spawn('/bin/sh', ['-c', keeper, 'sh', folder, ...command], {
    ...user,
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
    cwd: '/',
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true
  })
  const ended = once(child, 'exit')
  let log = ''
  let look = () => {}
  child.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-10_000)
    look()
  })
  // The test process may end while it runs.
  child.unref()
  for (const pipe of [child.stdin, child.stderr])
    if ('unref' in pipe && typeof pipe.unref === 'function') pipe.unref()

  /** What the log must say from now on. */
  const heard = (is: (said: string) => boolean): Promise<void> => {
    log = ''
    child.ref()
    return new Promise<void>((resolve, reject) => {
      look = () => {
        if (is(log)) resolve()
        else if (log.includes(hasEnded)) reject(new Error(`PostgreSQL did not start: ${log.slice(-2_000)}`))
      }
      ended.then(() => reject(new Error('PostgreSQL has been stopped')), reject)
    }).finally(() => child.unref())
  }
  const end = async (signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL') => {
    const over = heard(said => said.includes(hasEnded))
    process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), signal)
    await over
  }
  const kept: KeptPostgres = {
    halt: () => end('SIGINT'),
    crash: () => end('SIGQUIT'),
    kill: () => end('SIGKILL'),
    async start() {
      const ready = heard(said => isReady.test(said))
      await writeFile(join(folder, 'again'), '')
      await ready
    },
    async stop() {
      child.ref()
      child.stdin.end()
      await ended
      await rm(folder, { recursive: true, force: true })
    }
  }
  await heard(said => isReady.test(said))
  return kept
}
