import { spawn } from 'node:child_process'
import { DevnetError } from '../DevnetError.ts'
import { guardChild, stopChild } from '../platform/childGuard.ts'
import { anvilBinary } from './anvilBinary.ts'

/** How the node is started. Every value has a default that suits {@link seedEvmWorld}. */
export interface AnvilOptions {
  /** Default 31337. */
  chainId?: number
  /** TCP port on 127.0.0.1; default 0, a free one. */
  port?: number
  /**
   * `manual` (default): a block is made only when asked for. `auto`: one block per transaction.
   * A number: one block every so many seconds.
   */
  mining?: 'manual' | 'auto' | number
  /** Default `prague`: the first with transaction type 4, and the last where one proof covers one blob. */
  hardfork?: string
  /** Default 1 700 000 000, so that block times, and with them block hashes, are the same on every run. */
  genesisTimestampSeconds?: number
  /** Forgets older states: a chain of many thousand blocks is built in minutes instead of hours. Default false. */
  forgetsOldState?: boolean
  /** How long the node may take to listen; default 20 000. */
  startTimeoutMs?: number
}

/** A running anvil. */
export interface AnvilNode {
  rpcUrl: string
  chainId: number
  genesisTimestampSeconds: number
  pid: number
  /** Ends the process; resolves once it is gone. May be called again. */
  stop(): Promise<void>
}

/** Block time of the genesis block unless the caller chooses another. */
export const defaultGenesisTimestampSeconds = 1_700_000_000

/**
 * Starts anvil with the ten well-known development accounts, each holding 10 000 ether.
 *
 * Blocks take transactions in the order of their arrival, so that whoever sends them knows their positions.
 *
 * @throws {DevnetError} `UNSUPPORTED_PLATFORM` where there is no build of anvil, `NODE_DID_NOT_START` when it
 *   ends early or stays silent.
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<AnvilNode> {
  const chainId = options.chainId ?? 31337
  const genesisTimestampSeconds = options.genesisTimestampSeconds ?? defaultGenesisTimestampSeconds
  const nodeArguments = [
    ...['--host', '127.0.0.1', '--port', String(options.port ?? 0)],
    ...['--chain-id', String(chainId), '--timestamp', String(genesisTimestampSeconds)],
    ...['--hardfork', options.hardfork ?? 'prague', '--order', 'fifo', '--accounts', '10'],
    ...miningArguments(options.mining ?? 'manual'),
    ...(options.forgetsOldState ? ['--prune-history'] : [])
  ]
  // A group of its own: Ctrl-C in a terminal must not end the node before whoever uses it has closed down.
  const child = spawn(anvilBinary(), nodeArguments, { detached: process.platform !== 'win32' })
  guardChild(child)

  const rpcUrl = await new Promise<string>((resolve, reject) => {
    let output = ''
    const fail = (why: string) => {
      child.kill('SIGKILL')
      reject(new DevnetError('NODE_DID_NOT_START', `anvil ${why}: ${output.slice(-500).trim()}`))
    }
    const timer = setTimeout(() => fail('did not listen in time'), options.startTimeoutMs ?? 20_000)
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const address = /Listening on (\S+)/.exec(output)?.[1]
      if (address === undefined) return
      clearTimeout(timer)
      // Its log is not needed any more, but a full pipe would stop the node.
      child.stdout.removeAllListeners('data').resume()
      child.stderr.removeAllListeners('data').resume()
      resolve(`http://${address}`)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', error => fail(`could not be started (${error.message})`))
    // Not `exit`: what the node said last may still be on its way then.
    child.once('close', code => {
      clearTimeout(timer)
      fail(`ended with code ${code}`)
    })
  })
  return { rpcUrl, chainId, genesisTimestampSeconds, pid: child.pid ?? -1, stop: () => stopChild(child) }
}

function miningArguments(mining: 'manual' | 'auto' | number): string[] {
  if (mining === 'auto') return []
  return mining === 'manual' ? ['--no-mining'] : ['--block-time', String(mining)]
}
