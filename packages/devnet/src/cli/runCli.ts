import { choosePort, preferredPort } from './choosePort.ts'
import { createProgress, type ProgressOutput } from './createProgress.ts'
import { createShutdown } from './createShutdown.ts'
import { openDevnet, openRemoteChains } from './openSubject.ts'
import { type CliOptions, readOptions } from './readOptions.ts'
import { safeText } from './safeText.ts'
import { showAnswers } from './showAnswers.ts'
import { clientKey, startService } from './startService.ts'
import { waitUntilSynced } from './waitUntilSynced.ts'

/** What the command gets from its surroundings. */
export interface CliSurroundings {
  args: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  stdout: ProgressOutput
  stderr: ProgressOutput
  /** Resolves when somebody wants it to end. */
  interrupted: Promise<void>
}

/** Exit code of a shell command that was interrupted before it was done. */
const interruptedCode = 130

/**
 * The whole command: start, sync, show, stay, clean up.
 *
 * @returns Its exit code: 0 when everything was shown, 1 when something failed, 2 for bad options.
 */
export async function runCli({ args, env, stdout, stderr, interrupted }: CliSurroundings): Promise<number> {
  const options = readOptions(args, env, {
    out: text => stdout.write(text),
    err: text => stderr.write(text)
  })
  if ('exitCode' in options) return options.exitCode

  const shutdown = createShutdown()
  const calledOff = new AbortController()
  const end = interrupted.then(() => {
    calledOff.abort(new Error('interrupted'))
    return 'interrupted' as const
  })
  let exitCode: number
  try {
    const work = show(options, shutdown, stdout, calledOff.signal)
    const first = await Promise.race([work, end])
    exitCode = first === 'interrupted' ? interruptedCode : 0
    // Whatever is still starting has to be there before it can be ended.
    if (first === 'interrupted') await work.catch(() => undefined)
    else if (!options.once) {
      await first.stayUp()
      stdout.write(`\n${first.next}\nEverything is up. Ctrl-C stops it.\n`)
      await end
      stdout.write('\nStopping.\n')
    }
  } catch (error) {
    stderr.write(`\nFailed: ${safeText(messageOf(error), 500)}\n`)
    exitCode = 1
  }
  for (const failure of await shutdown.run()) {
    stderr.write(`While stopping: ${safeText(String(failure), 500)}\n`)
    exitCode ||= 1
  }
  return exitCode
}

async function show(
  options: CliOptions,
  shutdown: ReturnType<typeof createShutdown>,
  stdout: ProgressOutput,
  signal: AbortSignal
): Promise<{ readonly next: string; stayUp(): Promise<void> }> {
  const port = await choosePort(options.port)
  if (options.port === undefined && port !== preferredPort) {
    stdout.write(`Port ${preferredPort} is taken: the service gets another one.\n`)
  }
  const isDevnet = options.remoteChains.length === 0
  if (isDevnet) stdout.write('Starting and seeding the nodes …\n')
  const subject = isDevnet ? await openDevnet(options, shutdown) : await openRemoteChains(options)
  for (const note of subject.notes) stdout.write(`${note}\n`)
  const service = await startService(subject, { ...options, port }, shutdown)
  stdout.write(`Service      ${service.baseUrl} (project ${safeText(options.projectId)})\n`)

  await waitUntilSynced({
    isReady: service.isReady,
    read: service.readSync,
    progress: createProgress('Indexing', 'blocks', stdout),
    signal
  })
  await showAnswers(subject, service, options, stdout)

  const next = [
    `Status page  ${service.baseUrl}/`,
    `Client key   ${clientKey.key} (project ${safeText(options.projectId)}), for pages at ${clientKey.origins.join(' ')}`,
    'Wallet page  npm run dev -w examples/portfolio (in a clone of the repository)'
  ]
  return {
    next: `${next.join('\n')}\n`,
    async stayUp() {
      const evm = subject.devnet?.evm
      if (evm === undefined) return
      // From here on others send: they expect their transactions to be mined.
      await evm.driver.setAutomine(true)
      stdout.write('\nFrom now on the EVM node mines every transaction at once.\n')
    }
  }
}

/** What failed; `fetch` keeps the reason in its cause. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
