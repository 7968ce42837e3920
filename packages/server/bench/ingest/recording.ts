import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { chainFigures } from './planChain.ts'

/** Bodies that are kept of each block: what the node answers as `result`, byte for byte. */
const bodyKinds = ['full', 'header', 'receipts', 'logs'] as const
type BodyKind = (typeof bodyKinds)[number]

/** Where one block lies in `bodies.bin`. */
export interface RecordedPlace {
  readonly hash: string
  readonly start: number
  /** Of each body, in the order of `bodyKinds`. */
  readonly lengths: readonly number[]
}

/** A recorded chain in memory, block after block from 0 on. */
export interface Recording {
  readonly blocks: readonly RecordedBlock[]
}

/** One block's bodies; `full` has whole transactions, `header` their hashes only. */
export type RecordedBlock = { readonly hash: string } & Readonly<Record<BodyKind, Buffer>>

/** The folder is outside what is committed; another version is another folder. */
export function recordingFolder(): string {
  const name = `chain-data-bench-chain-v${chainFigures.version}`
  return fileURLToPath(new URL(`../../../../node_modules/.cache/${name}`, import.meta.url))
}

/**
 * Reads a recorded chain up to and with a height; some 400 KB of memory a block.
 * @throws {Error} there is no recording in the folder.
 */
export function readRecording(folder: string, lastBlock: number = chainFigures.lastBlock): Recording {
  const places = JSON.parse(readFileSync(`${folder}/places.json`, 'utf8')) as readonly RecordedPlace[]
  const bytes = readFileSync(`${folder}/bodies.bin`)
  const blocks = places.slice(0, lastBlock + 1).map(({ hash, start, lengths }) => {
    let at = start
    const [full, header, receipts, logs] = lengths.map(length => {
      at += length
      return bytes.subarray(at - length, at)
    })
    if (!full || !header || !receipts || !logs) throw new Error(`${folder}: a block lacks a body`)
    return { hash, full, header, receipts, logs }
  })
  return { blocks }
}

/** Signed transactions of the first blocks after block 1, as they were sent. */
export function readTransactions(folder: string, blockCount: number): readonly (readonly string[])[] {
  const lines = readFileSync(`${folder}/transactions.txt`, 'latin1').split('\n', blockCount)
  return lines.map(line => line.split(' '))
}
