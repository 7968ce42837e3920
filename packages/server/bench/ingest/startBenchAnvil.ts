import { spawn } from 'node:child_process'
import { anvilBinary } from '../../../devnet/src/evm/anvilBinary.ts'
import { guardChild, stopChild } from '../../../devnet/src/platform/childGuard.ts'
import { chainFigures } from './planChain.ts'

/** An anvil at block 0 that mines on demand only. */
export interface BenchAnvil {
  readonly url: string
  readonly pid: number
  stop(): Promise<void>
}

/**
 * Starts one of the benchmark's own: it forgets the state of older blocks, which would take gigabytes and which nobody
 * asks for; blocks, receipts and traces are all kept.
 * @throws {Error} it ends before it listens.
 */
export async function startBenchAnvil(): Promise<BenchAnvil> {
  const { chainId } = chainFigures
  const words = [
    ...['--host', '127.0.0.1', '--port', '0', '--chain-id', String(chainId)],
    ...['--timestamp', '1700000000', '--order', 'fifo', '--no-mining', '--prune-history']
  ]
  const child = spawn(anvilBinary(), words, { detached: true })
  guardChild(child)
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    const read = (chunk: Buffer) => {
      output += chunk.toString()
      const address = /Listening on (\S+)/.exec(output)?.[1]
      if (address === undefined) return
      // A full pipe would stop the node.
      child.stdout.removeAllListeners('data').resume()
      child.stderr.removeAllListeners('data').resume()
      resolve(`http://${address}`)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', reject)
    child.once('close', code => reject(new Error(`anvil ended with code ${code}: ${output.slice(-500)}`)))
  })
  return { url, pid: child.pid ?? -1, stop: () => stopChild(child) }
}
