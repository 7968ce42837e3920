import { fork } from 'node:child_process'
import { createRequire } from 'node:module'
import { DevnetError } from '../DevnetError.ts'
import { packageFile } from '../packageFile.ts'
import { guardChild, stopChild } from '../platform/childGuard.ts'
import { createJsonRpc } from '../platform/jsonRpc.ts'

/** A running surfpool: an embedded Solana node that never reaches out to a network. */
export interface SurfpoolNode {
  rpcUrl: string
  wsUrl: string
  pid: number
  /** Ends the process; resolves once it is gone. May be called again. */
  stop(): Promise<void>
}

/**
 * Why the embedded Solana node cannot run on this machine, or `undefined` where it can.
 *
 * There is a build for Linux on x64 with glibc only.
 */
export function surfpoolUnsupportedReason(): string | undefined {
  const machine = `${process.platform} ${process.arch}`
  if (machine !== 'linux x64') return `the Solana node has no build for ${machine}, only for linux x64`
  try {
    createRequire(import.meta.url).resolve('surfpool-sdk-linux-x64-gnu')
    return undefined
  } catch {
    return 'the optional package surfpool-sdk-linux-x64-gnu is not installed (it needs glibc)'
  }
}

/**
 * Starts surfpool in a process of its own, on free ports, offline, with one block per transaction.
 *
 * @param options.startTimeoutMs - How long it may take to answer; default 20 000.
 * @throws {DevnetError} `UNSUPPORTED_PLATFORM` where there is no build, `NODE_DID_NOT_START` otherwise.
 */
export async function startSurfpool(options: { startTimeoutMs?: number } = {}): Promise<SurfpoolNode> {
  const unsupported = surfpoolUnsupportedReason()
  if (unsupported !== undefined) throw new DevnetError('UNSUPPORTED_PLATFORM', unsupported)
  const deadline = Date.now() + (options.startTimeoutMs ?? 20_000)
  // A group of its own, as with anvil: Ctrl-C must not end the node before its users have closed down.
  const child = fork(packageFile('src/solana/surfpoolChild.ts'), {
    stdio: 'ignore',
    execArgv: [],
    detached: true
  })
  guardChild(child)
  try {
    const urls = await new Promise<{ rpcUrl: string; wsUrl: string }>((resolve, reject) => {
      const fail = (why: string) => reject(new DevnetError('NODE_DID_NOT_START', `surfpool ${why}`))
      const timer = setTimeout(() => fail('did not start in time'), deadline - Date.now())
      const settle = (act: () => void) => {
        clearTimeout(timer)
        act()
      }
      child.once('message', (message: { rpcUrl: string; wsUrl: string } | { failure: string }) =>
        settle(() => ('failure' in message ? fail(`failed: ${message.failure}`) : resolve(message)))
      )
      child.once('exit', code => settle(() => fail(`ended with code ${code}`)))
      child.once('error', error => settle(() => fail(`could not be started: ${error.message}`)))
    })
    await answers(urls.rpcUrl, deadline)
    return { ...urls, pid: child.pid ?? -1, stop: () => stopChild(child) }
  } catch (error) {
    await stopChild(child)
    throw error
  }
}

async function answers(rpcUrl: string, deadline: number) {
  const rpc = createJsonRpc(rpcUrl)
  for (;;) {
    try {
      await rpc('getHealth')
      return
    } catch (error) {
      if (Date.now() > deadline) {
        throw new DevnetError('NODE_DID_NOT_START', `surfpool does not answer: ${String(error)}`)
      }
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }
}
