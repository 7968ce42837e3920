import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import { callForBytes } from './callNode.ts'
import { chainFigures, planChain, transactionsUpTo } from './planChain.ts'
import { playChain } from './playChain.ts'
import { type RecordedPlace, recordingFolder } from './recording.ts'
import { startBenchAnvil } from './startBenchAnvil.ts'

/**
 * The folder of the recorded chain: made on an anvil by the first call, and kept for later ones.
 * @remarks Some minutes and a gigabyte below `node_modules/.cache`.
 */
export async function prepareRecording(print: (line: string) => void): Promise<string> {
  const folder = recordingFolder()
  if (existsSync(folder)) return folder
  print(`  recording a chain of ${chainFigures.lastBlock} blocks, once`)
  // Of this process: two that record at once must not write into each other's files.
  const unfinished = `${folder}.${process.pid}`
  mkdirSync(unfinished, { recursive: true })
  const anvil = await startBenchAnvil()
  try {
    await record(anvil.url, unfinished, print)
    // Under its name only once it is whole.
    if (!existsSync(folder)) renameSync(unfinished, folder)
  } finally {
    await anvil.stop()
    rmSync(unfinished, { recursive: true, force: true })
  }
  return folder
}

async function record(url: string, folder: string, print: (line: string) => void): Promise<void> {
  const places: RecordedPlace[] = []
  const bodies = openSync(`${folder}/bodies.bin`, 'w')
  const transactions = openSync(`${folder}/transactions.txt`, 'w')
  let end = 0
  try {
    const keep = async (number: number) => {
      const captured = await captureBlock(url, number)
      places.push({ hash: captured.hash, start: end, lengths: captured.bodies.map(({ length }) => length) })
      for (const body of captured.bodies) end += writeWhole(bodies, body)
      if (number % 100 === 0) print(`  block ${number}, ${Math.round(end / 1e6)} MB`)
    }
    const plan = planChain()
    await keep(0)
    await playChain(url, plan, written(plan.blocks(), transactions), keep)
    writeFileSync(`${folder}/places.json`, JSON.stringify(places))
  } finally {
    closeSync(bodies)
    closeSync(transactions)
  }
}

async function captureBlock(url: string, number: number) {
  const height = `0x${number.toString(16)}`
  const header = await callForBytes(url, { method: 'eth_getBlockByNumber', params: [height, false] })
  const { hash, transactions } = JSON.parse(header.toString()) as {
    readonly hash: string
    readonly transactions: readonly string[]
  }
  const expected =
    number === 0 ? 0 : transactionsUpTo(number) - (number === 1 ? 0 : transactionsUpTo(number - 1))
  if (transactions.length !== expected) {
    throw new Error(`block ${number} has ${transactions.length} transactions; expected ${expected}`)
  }
  const [full, receipts, logs] = await Promise.all([
    callForBytes(url, { method: 'eth_getBlockByNumber', params: [height, true] }),
    callForBytes(url, { method: 'eth_getBlockReceipts', params: [hash] }),
    callForBytes(url, { method: 'eth_getLogs', params: [{ blockHash: hash }] })
  ])
  return { hash, bodies: [full, header, receipts, logs] }
}

function* written(blocks: Iterable<readonly string[]>, file: number): Generator<readonly string[]> {
  for (const transactions of blocks) {
    writeWhole(file, Buffer.from(`${transactions.join(' ')}\n`, 'latin1'))
    yield transactions
  }
}

function writeWhole(file: number, bytes: Buffer): number {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
  return bytes.length
}
