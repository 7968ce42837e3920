import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { callForBytes, callNode } from '../ingest/callNode.ts'
import type { RecordedPlace } from '../ingest/recording.ts'
import { startBenchAnvil } from '../ingest/startBenchAnvil.ts'

/** Blocks without transactions after block 0. */
export const emptyBlocks = 6_000

/**
 * Records a chain of empty blocks, as an anvil writes them, in the form of `readRecording`.
 * @returns its folder below `node_modules/.cache`, kept for later calls.
 * @remarks Some seconds.
 */
export async function prepareEmptyChain(print: (line: string) => void): Promise<string> {
  const name = `chain-data-bench-empty-${emptyBlocks}`
  const folder = fileURLToPath(new URL(`../../../../node_modules/.cache/${name}`, import.meta.url))
  if (existsSync(folder)) return folder
  print(`  recording ${emptyBlocks} empty blocks, once`)
  const unfinished = `${folder}.${process.pid}`
  mkdirSync(unfinished, { recursive: true })
  const anvil = await startBenchAnvil()
  try {
    await callNode(anvil.url, 'anvil_mine', `0x${emptyBlocks.toString(16)}`, '0xc')
    const places: RecordedPlace[] = []
    const bodies: Buffer[] = []
    let start = 0
    for (let number = 0; number <= emptyBlocks; number++) {
      const params = [`0x${number.toString(16)}`, true]
      const block = await callForBytes(anvil.url, { method: 'eth_getBlockByNumber', params })
      const { hash } = JSON.parse(block.toString()) as { readonly hash: string }
      const ofBlock = [block, block, Buffer.from('[]'), Buffer.from('[]')]
      places.push({ hash, start, lengths: ofBlock.map(({ length }) => length) })
      for (const body of ofBlock) start += body.length
      bodies.push(...ofBlock)
    }
    writeFileSync(`${unfinished}/bodies.bin`, Buffer.concat(bodies))
    writeFileSync(`${unfinished}/places.json`, JSON.stringify(places))
    if (!existsSync(folder)) renameSync(unfinished, folder)
  } finally {
    await anvil.stop()
    rmSync(unfinished, { recursive: true, force: true })
  }
  return folder
}
