import { type FSWatcher, watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'

/**
 * Tells when a file has become another one: written, replaced, made or removed.
 *
 * @param options.onChange - called after a change, once for several in a row; not called for what is there at first.
 *   Resolves to whether the file was read; where it was not, it is called again at the next look.
 * @param options.settleMs - after a sign of a change, so long until it is looked at.
 * @param options.pollMs - some file systems (networks, mounts in containers) give no signs: looked at so often anyway.
 * @returns ends the watch. It never keeps the process alive.
 */
export function watchFile(
  file: string,
  options: { readonly onChange: () => Promise<boolean>; readonly settleMs: number; readonly pollMs: number }
): () => void {
  const { onChange, settleMs, pollMs } = options
  let isClosed = false
  let settling: NodeJS.Timeout | undefined
  let seen = lookAt(file)

  // The folder, because a replaced file takes its own watch with it.
  let watcher: FSWatcher | undefined
  try {
    watcher = watch(dirname(file), { persistent: false }, (_event, name) => {
      if (name !== null && name !== basename(file)) return
      settling ??= setTimeout(() => {
        settling = undefined
        look()
      }, settleMs).unref()
    })
    watcher.on('error', () => watcher?.close())
  } catch {
    // No such folder, or no watches left: the polls remain.
  }
  const poll = setInterval(look, pollMs).unref()

  function look(): void {
    const before = seen
    seen = before.then(async old => {
      const now = await lookAt(file)
      if (now === old || isClosed) return now
      return (await onChange()) ? now : unread
    })
  }

  return () => {
    isClosed = true
    watcher?.close()
    clearInterval(poll)
    clearTimeout(settling)
  }
}

/** No state of a file. */
const unread = 'unread'

/** Another text for another file, or another state of it. */
async function lookAt(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true })
    return [ino, size, mtimeNs, ctimeNs].join()
  } catch {
    return 'none'
  }
}
