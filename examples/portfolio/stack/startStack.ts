import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Devnet, startDevnet } from '@chain-data/devnet'
import { createServer, type Server } from '@chain-data/server'
import { addAccounts } from './addAccounts.ts'
import { createPageEnvironment } from './createPageEnvironment.ts'
import { createTokenList } from './createTokenList.ts'
import { holdPort } from './holdPort.ts'
import { paintPictures } from './paintPictures.ts'

/** Everything behind the page: nodes with known contents, the service over them, and what the page is told of it. */
export interface Stack {
  readonly devnet: Devnet
  readonly server: Server
  readonly serviceUrl: string
  /** `VITE_CHAIN_DATA_*` for the page. */
  readonly environment: Readonly<Record<string, string>>
  /** Ends all of it. */
  stop(): Promise<void>
}

/** What varies. */
export interface StackOptions {
  /** Of the service, or another one while that is taken; 0 for any. */
  port: number
  /** From which the page is opened: the client key works from there and from nowhere else. */
  pageOrigins: readonly string[]
  /** Told what happens, one line each. */
  tell?: (line: string) => void
}

/** Publishable: the page shows it to everybody, and the service ties it to the page's origins. */
const clientKey = 'demo-client-key'
const projectId = 'demo'
/** For calls from outside a page, as with `npm start`. */
const serverKey = 'demo-server-key'

/**
 * Starts the nodes and the service, and waits until all blocks are indexed.
 *
 * @throws When a node or the service cannot be started; what was started is ended again.
 */
export async function startStack({ port, pageOrigins, tell = () => {} }: StackOptions): Promise<Stack> {
  const ends: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end()
  }
  try {
    tell('Starting and filling the nodes …')
    const folder = await mkdtemp(join(tmpdir(), 'portfolio-'))
    ends.push(() => rm(folder, { recursive: true, force: true }))
    const devnet = await startDevnet()
    ends.push(() => devnet.stop())
    const { evm, solana, metadata, solanaUnavailable } = devnet
    if (evm === undefined) throw new Error('the devnet came without its EVM node')
    await addAccounts(evm.driver, metadata)
    paintPictures(metadata)
    tell(`EVM node     ${evm.node.rpcUrl} (${evm.world.blocks.length} blocks)`)
    if (solana !== undefined) tell(`Solana node  ${solana.node.rpcUrl}`)
    if (solanaUnavailable !== undefined)
      tell(`No Solana here: ${solanaUnavailable}. The page goes on with EVM.`)

    const tokenList = join(folder, 'tokens.json')
    await writeFile(tokenList, JSON.stringify(createTokenList(evm.world)))
    const held = port === 0 ? undefined : await holdPort(port)
    const server = await createServer({
      listen: { host: '127.0.0.1', port: held?.port ?? 0 },
      store: `sqlite:${folder}/store`,
      projects: [{ projectId, serverKey, clientKeys: [{ key: clientKey, origins: [...pageOrigins] }] }],
      chains: {
        // With traces, so that the history explains the balance to the last wei.
        evm: [{ chainId: evm.world.chainId, rpcUrls: [evm.node.rpcUrl], traces: 'on', pollIntervalMs: 250 }],
        solana:
          solana === undefined
            ? []
            : [{ chainId: solana.world.chainId, dev: true, rpcUrls: [solana.node.rpcUrl] }]
      },
      metadata: {
        allowHosts: [metadata.hostPort],
        ipfsGateways: [metadata.url],
        tokenLists: [tokenList]
      },
      // One reader on this machine, who shall not be kept waiting.
      rateLimit: false,
      overload: false,
      log: { level: 'error' }
    })
    ends.push(() => server.close())
    await held?.release()
    const serviceUrl = await server.listen()
    tell(`Service      ${serviceUrl}`)
    await untilIndexed(serviceUrl)
    const environment = createPageEnvironment({ devnet, serviceUrl, projectId, clientKey })
    return { devnet, server, serviceUrl, environment, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function untilIndexed(serviceUrl: string): Promise<void> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const response = await fetch(`${serviceUrl}/health/ready`)
    const text = await response.text()
    if (response.status === 200) return
    if (Date.now() > deadline) throw new Error(`the service is not ready after a minute: ${text}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}
