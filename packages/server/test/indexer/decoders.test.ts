import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import { dumpStore, eventually, temporaryFolder } from '@chain-data/index/test'
import { afterEach, expect, it } from 'vitest'
import type { Waiver } from '../../src/model/waivableChecks.ts'
import { createLogger } from '../../src/platform/logger.ts'
import { connectDecoders } from '../../src/server/indexer/connectDecoders.ts'
import { createThreads } from '../../src/server/indexer/createThreads.ts'
import { createDecoder } from '../../src/server/indexer/decoderPort.ts'
import { startIndexer } from '../../src/server/indexer/startIndexer.ts'
import { blockHash, erc20Transfer, type RawBlock, type RawParts, rawBlock } from '../blocks/rawBlock.ts'
import { setCodeTuples } from '../blocks/setCodeTuples.ts'
import { startScriptedChain } from '../blocks/startScriptedChain.ts'
import { runTestIndexer } from '../support/indexHarness.ts'
import { startNodeProxy } from '../upstreams/startNodeProxy.ts'

const head = 200
const finality = 20
/** Newer ones are decoded by the chain's own thread. */
const lastFar = head - 64
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const logs = [erc20Transfer(`0x${'7'.repeat(40)}`, `0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`)]
const setCode = { type: '0x4', chainId: '0x1', authorizationList: setCodeTuples }
const waivers: readonly Waiver[] = [{ check: 'emptyBloom', reason: 'test', toBlock: 90 }]

/** Blocks of all sizes and kinds, some of which need a waiver. */
function chainOf(change: (block: RawBlock) => RawBlock = block => block) {
  return startScriptedChain(
    Array.from({ length: head }, (_, i) => {
      const kinds: RawParts[] = [{}, { logs }, { transaction: setCode }, { logs: [...logs, ...logs] }]
      const parts = kinds.slice(0, i % 5)
      const header = i % 7 === 0 && i < 90 && i % 5 > 1 ? { logsBloom: `0x${'0'.repeat(512)}` } : {}
      return change(rawBlock(i + 1, parts, header))
    })
  )
}

async function folder(): Promise<string> {
  const { path, remove } = await temporaryFolder()
  cleanUps.push(remove)
  return path
}

/** Two decoders in this thread, and how many blocks they have decoded and left. */
function decoders() {
  const counts = { decoded: 0, left: 0 }
  const [one, two] = [createDecoder(), createDecoder()]
  const connected = connectDecoders({ waivers }, isWanted => {
    if (!isWanted) return
    connected.connect(
      [one, two].map(decoder => {
        const { port1, port2 } = new MessageChannel()
        decoder.serve(port2)
        return port1
      })
    )
  })
  cleanUps.push(connected.close)
  const decode: typeof connected.decode = async (answer, askForNonces) => {
    const decoded = await connected.decode(answer, askForNonces)
    counts['body' in decoded ? 'left' : 'decoded']++
    return decoded
  }
  return { decode, counts }
}

it('blocks that other threads decode are stored as those that the chain decodes itself', async () => {
  const chain = await chainOf()
  cleanUps.push(chain.close)
  const { decode, counts } = decoders()
  const dumps = await Promise.all(
    [undefined, decode].map(async way => {
      const path = await folder()
      const lines: Record<string, unknown>[] = []
      const logger = createLogger({ level: 'debug', write: line => lines.push(JSON.parse(line)) })
      const config = { rpcUrls: [chain.url], finality, waivers }
      const indexer = runTestIndexer(path, config, logger, way)
      await indexer.until('it is level', ({ phase }) => phase === 'following')
      await indexer.stop()
      const uses = lines.filter(({ msg }) => /^the waiver emptyBloom is (needed|used)$/.test(String(msg)))
      return { text: dumpStore(path, 31_337).text, uses: uses.length }
    })
  )
  expect(dumps[1]).toEqual(dumps[0])
  expect(dumps[0]?.uses).toBeGreaterThan(5)
  expect(counts.decoded).toBeGreaterThan(lastFar / 2)
  expect(counts.left).toBeLessThan(lastFar / 4)
})

it('a block that is refused stalls the chain with the same problem, whoever decodes', async () => {
  const chain = await chainOf(block =>
    Number(block.block.number) === 100 ? { ...block, receipts: block.receipts.slice(1) } : block
  )
  cleanUps.push(chain.close)
  const problems = await Promise.all(
    [undefined, decoders().decode].map(async decode => {
      const config = { rpcUrls: [chain.url], finality, waivers }
      const indexer = runTestIndexer(await folder(), config, undefined, decode)
      const { problem } = await indexer.until('it stalls', ({ phase }) => phase === 'stalled')
      expect(indexer.status().indexedTo?.number).toBe(99)
      await indexer.stop()
      return problem
    })
  )
  expect(problems[0]).toMatch(/^block 100: /)
  expect(problems[1]).toBe(problems[0])
})

it('a chain goes on when a thread that decodes its blocks crashes', async () => {
  const chain = await chainOf()
  cleanUps.push(chain.close)
  const place = await folder()
  const serves = join(place, 'serves')
  const entry = join(place, 'thread.mjs')
  const thread = new URL('../../src/server/indexer/decoderThread.ts', import.meta.url)
  await writeFile(
    entry,
    `import { writeFileSync } from 'node:fs'
     import { parentPort } from 'node:worker_threads'
     await import(${JSON.stringify(thread.href)})
     let blocks = 0
     parentPort.on('message', ({ port }) => {
       port?.on('message', ({ answer }) => {
         if (answer && ++blocks === 5) throw new Error('out of order')
       })
       writeFileSync(${JSON.stringify(serves)}, '')
     })`
  )
  const node = await startNodeProxy(chain.url)
  cleanUps.push(() => node.close())
  node.obey(async ({ method, params }) => {
    // Until the thread is there.
    if (method === 'eth_getBlockByNumber' && Number(params[0]) > 20)
      await eventually('the thread serves', () => existsSync(serves))
    return undefined
  })
  const lines: Record<string, unknown>[] = []
  const logger = createLogger({ level: 'info', write: line => lines.push(JSON.parse(line)) })
  const indexer = startIndexer({
    ...{ chainId: 31_337, rpcUrls: [node.url], startBlock: 0, finality, pollIntervalMs: 25, waivers },
    store: { kind: 'sqlite', folder: join(place, 'store') },
    decoders: createThreads('decoder', { logger, most: 1, entry: pathToFileURL(entry) }),
    logger
  })
  cleanUps.push(() => indexer.stop())
  await eventually('it is level', () => indexer.status().indexedTo?.hash === blockHash(head))
  expect(lines.filter(({ level }) => Number(level) >= 40)).toMatchObject([
    { msg: 'a thread that decodes blocks crashed', error: { message: 'out of order' } }
  ])
})
