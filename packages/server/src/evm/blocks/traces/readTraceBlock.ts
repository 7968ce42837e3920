import type { Address, Hash } from '@chain-data/index'
import {
  isAbsent,
  type RawObject,
  readAddress,
  readCount,
  readHash,
  readList,
  readObject,
  readQuantity
} from '../../../nodes/evm/rawFields.ts'
import { plural } from '../../../platform/plural.ts'
import { contradiction } from '../verification/contradiction.ts'
import { deepestFrame, type Frame, isEmptyCode, quote, stepNamed, type TraceableBlock } from './frames.ts'

/** The steps of each transaction, and the rewards of the block. */
export interface ListedTraces {
  /** For each transaction, in block order; each begins with the transaction itself. */
  readonly frames: readonly (readonly Frame[])[]
  /** For the block and its uncles, to each account. */
  readonly rewards: ReadonlyMap<Address, bigint>
}

interface Entry {
  /** Its `traceAddress`: child indexes from the transaction down; empty for the transaction itself. */
  readonly path: readonly number[]
  readonly raw: RawObject
}

/**
 * Reads an answer to `trace_block`: one flat list of all steps of all transactions, and of rewards.
 *
 * Each entry names the block's hash, which binds the answer to the block, since the request names only its height. Steps are
 * sorted by `traceAddress`; the list must have the parent of each step but the first. Some nodes leave out steps (calls of
 * precompiles), so numbers may have gaps.
 *
 * @throws {NodeContradictionError} naming the block, the entry and the disagreement.
 * @see https://openethereum.github.io/JSONRPC-trace-module
 */
export function readTraceBlock(raw: unknown, block: TraceableBlock): ListedTraces {
  const { ref, transactions } = block
  const groups = new Map<string, Entry[]>()
  const rewards = new Map<Address, bigint>()
  /** Transaction of the entry before. */
  let current: Hash = ref.hash
  for (const [i, value] of readList(raw, `block ${ref.number}: traces`).entries()) {
    const where = `block ${ref.number} trace ${i}`
    const entry = readObject(value, where)
    const hash = sameHash(entry.blockHash, ref.hash) ?? readHash(entry.blockHash, `${where}: blockHash`)
    if (hash !== ref.hash) throw contradiction(ref.number, `${where} is of block ${hash}, not ${ref.hash}`)
    if (entry.type === 'reward') addReward(rewards, entry, where)
    else {
      current =
        sameHash(entry.transactionHash, current) ??
        readHash(entry.transactionHash, `${where}: transactionHash`)
      const group = groups.get(current) ?? []
      if (group.length === 0) groups.set(current, group)
      group.push({ path: readPath(entry.traceAddress, where, ref.number), raw: entry })
    }
  }
  const frames = transactions.map(({ hash }) => {
    const where = `block ${ref.number}: the trace of ${hash}`
    const entries = inOrder(groups.get(hash) ?? [])
    if (entries.length === 0) throw contradiction(ref.number, `${where} is missing`)
    checkTree(entries, where, ref.number)
    return entries.map(entry => readFrame(entry, where, ref.number))
  })
  if (groups.size > transactions.length) {
    const text = `traces of ${plural(groups.size, 'transaction')}, but it has ${transactions.length}`
    throw contradiction(ref.number, text)
  }
  return { frames, rewards }
}

/** Returns the known hash where the value is the same, as in most entries, so that it is not read again. */
function sameHash(value: unknown, hash: Hash): Hash | undefined {
  return value === hash ? hash : undefined
}

function addReward(rewards: Map<Address, bigint>, { action }: RawObject, where: string): void {
  const { author, value } = readObject(action, `${where}: action`)
  const account = readAddress(author, `${where}: author`)
  rewards.set(account, (rewards.get(account) ?? 0n) + readQuantity(value, `${where}: value`))
}

function readPath(value: unknown, where: string, blockNumber: number): readonly number[] {
  const path = readList(value, `${where}: traceAddress`)
  if (path.length > deepestFrame) throw contradiction(blockNumber, `${where} is nested ${path.length} deep`)
  return path.map(part => (isPathNumber(part) ? part : readCount(part, `${where}: traceAddress`)))
}

/** Reports whether a part of a path is a plain number, as most nodes write it. */
function isPathNumber(part: unknown): part is number {
  return typeof part === 'number' && Number.isSafeInteger(part) && part >= 0
}

/** Sorts the entries of a transaction, where the node has not. */
function inOrder(entries: readonly Entry[]): readonly Entry[] {
  const isSorted = entries.every(
    ({ path }, i) => i === 0 || comparePaths(entries[i - 1]?.path ?? [], path) < 0
  )
  return isSorted ? entries : entries.toSorted((a, b) => comparePaths(a.path, b.path))
}

/** Compares paths; a step comes before its children. */
function comparePaths(a: readonly number[], b: readonly number[]): number {
  const shared = sharedLength(a, b)
  return (a[shared] ?? -1) - (b[shared] ?? -1)
}

function sharedLength(a: readonly number[], b: readonly number[]): number {
  let length = 0
  while (length < a.length && length < b.length && a[length] === b[length]) length++
  return length
}

function checkTree(entries: readonly Entry[], where: string, blockNumber: number): void {
  if (entries[0]?.path.length !== 0) throw contradiction(blockNumber, `${where} has no beginning`)
  for (const [i, { path }] of entries.entries()) {
    if (i === 0) continue
    const before = entries[i - 1]?.path ?? []
    const shared = sharedLength(before, path)
    const at = `step [${path.slice(0, 8)}] of ${path.length}`
    if (path.length === before.length && shared === path.length) {
      throw contradiction(blockNumber, `${where} has ${at} twice`)
    }
    if (shared !== path.length - 1) throw contradiction(blockNumber, `${where} has not the step around ${at}`)
  }
}

function readFrame({ path, raw }: Entry, where: string, blockNumber: number): Frame {
  const depth = path.length
  const action = readObject(raw.action, `${where}: action`)
  if (raw.type === 'suicide' || raw.type === 'selfdestruct') {
    return {
      ...{ kind: 'selfdestruct', depth },
      from: readAddress(action.address, `${where}: address`),
      to: readAddress(action.refundAddress, `${where}: refundAddress`),
      value: readQuantity(action.balance, `${where}: balance`)
    }
  }
  const from = readAddress(action.from, `${where}: from`)
  const failed = isAbsent(raw.error) ? {} : { error: String(raw.error) }
  if (isAbsent(raw.error) && isAbsent(raw.result)) {
    throw contradiction(blockNumber, `${where} has a step with neither result nor error`)
  }
  if (raw.type === 'create') {
    const value = readQuantity(action.value, `${where}: value`)
    if (!isAbsent(raw.error)) return { kind: 'create', depth, from, value, ...failed }
    const { address, code } = readObject(raw.result, `${where}: result`)
    const to = readAddress(address, `${where}: address`)
    return { kind: 'create', depth, from, to, value, isEmpty: isEmptyCode(code) }
  }
  const call = raw.type === 'call' ? stepNamed(action.callType) : undefined
  if (call?.kind !== 'call' && call?.kind !== 'delegate') {
    const text = `${where} has a step of type ${quote(raw.type)}, callType ${quote(action.callType)}`
    throw contradiction(blockNumber, `${text}; expected one of the EVM`)
  }
  const value = call.sends ? readQuantity(action.value, `${where}: value`) : 0n
  return { kind: call.kind, depth, from, to: readAddress(action.to, `${where}: to`), value, ...failed }
}
