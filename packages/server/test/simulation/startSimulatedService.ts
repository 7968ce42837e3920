import type { TransactionRecord } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import { expect } from 'vitest'
import { createLogger } from '../../src/platform/logger.ts'
import { createServer, type Server } from '../../src/server/start/createServer.ts'

const credentials = { projectId: 'demo', serverKey: 'demo-server-key' }
const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`

/** An error as the wire has it. */
export interface WireFailure {
  readonly code: number
  readonly message: string
  readonly data: { readonly reason: string } & Readonly<Record<string, unknown>>
}

export interface SimulatedService {
  readonly server: Server
  /** Everything it has logged. */
  readonly logLines: string[]
  ask(method: string, params: readonly unknown[]): Promise<{ result?: unknown; error?: WireFailure }>
  /** A history or a page of one; valid by the spec. @throws when it is refused. */
  history(address: string, page?: object): Promise<TransactionRecord[]>
  /** A whole history as it comes. */
  stream(address: string): Promise<Response>
  close(): Promise<void>
}

/** The whole server over a folder that outlives it. */
export async function startSimulatedService(folder: string, rpcUrl: string): Promise<SimulatedService> {
  const logLines: string[] = []
  const server = await createServer(
    {
      store: `sqlite:${folder}`,
      projects: [credentials],
      chains: { evm: [{ chainId: 31337, rpcUrls: [rpcUrl], traces: 'on', pollIntervalMs: 50 }] },
      rateLimit: false,
      // What is refused on a busy machine is no answer to compare.
      overload: false
    },
    { logger: createLogger({ level: 'info', write: line => logLines.push(line) }) }
  )
  const call = (method: string, params: readonly unknown[]) =>
    server.fetch(
      new Request('http://service/evm-chain', {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId: 31337, params })
      })
    )
  async function ask(method: string, params: readonly unknown[]) {
    return (await (await call(method, params)).json()) as { result?: unknown; error?: WireFailure }
  }
  return {
    server,
    logLines,
    ask,
    async history(address, page) {
      const { result, error } = await ask('svc_getTransactionsByAddress', page ? [address, page] : [address])
      if (error !== undefined) throw Object.assign(new Error(error.data.reason), { failure: error })
      expect(checkResult('svc_getTransactionsByAddress', result)).toBeUndefined()
      return result as TransactionRecord[]
    },
    stream: address => call('svc_getTransactionsByAddress', [address]),
    close: () => server.close()
  }
}
