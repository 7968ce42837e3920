import type { Address, Hash } from '../../../model/evm.ts'
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
import { contradiction } from '../verification/contradiction.ts'
import { deepestFrame, type Frame, isEmptyCode, type TraceableBlock } from './frames.ts'

/** The steps of each transaction, and what a block paid for itself. */
export interface ListedTraces {
  /** For each transaction, in block order; each begins with the transaction itself. */
  readonly frames: readonly (readonly Frame[])[]
  /** For the block and its uncles, to each account. */
  readonly rewards: ReadonlyMap<Address, bigint>
}

interface Entry {
  /** Which child of which child it is; empty for the transaction itself. */
  readonly path: readonly number[]
  readonly raw: RawObject
}

/**
 * Reads an answer to `trace_block`: one flat list of all steps of all transactions, and of rewards.
 *
 * Each entry names the block's hash, which binds the answer to the block, since it was asked for by its height. Steps are
 * put in order by their `traceAddress`; each but the first must have the one around it in the list. Steps may be left out
 * (calls of precompiles), which leaves gaps in the numbering.
 *
 * @throws {NodeContradictionError} naming the block, the entry and the disagreement.
 * @see https://openethereum.github.io/JSONRPC-trace-module
 */
export function readTraceBlock(raw: unknown, block: TraceableBlock): ListedTraces {
  const { ref, transactions } = block
  const groups = new Map<string, Entry[]>()
  const rewards = new Map<Address, bigint>()
  /** Of the entry before. */
  let current: Hash = ref.hash
  for (const [place, value] of readList(raw, `block ${ref.number}: traces`).entries()) {
    const where = `block ${ref.number} trace ${place}`
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
    const text = `traces of ${groups.size} transactions, but it has ${transactions.length}`
    throw contradiction(ref.number, text)
  }
  return { frames, rewards }
}

/** Most entries name what the one before has named: there is nothing to be read anew. */
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
  return path.map(part => (isPlace(part) ? part : readCount(part, `${where}: traceAddress`)))
}

/** As nodes write them. */
function isPlace(part: unknown): part is number {
  return typeof part === 'number' && Number.isSafeInteger(part) && part >= 0
}

/** Nodes write them so; where one does not, they are sorted. */
function inOrder(entries: readonly Entry[]): readonly Entry[] {
  const isSorted = entries.every(
    ({ path }, i) => i === 0 || comparePaths(entries[i - 1]?.path ?? [], path) < 0
  )
  return isSorted ? entries : entries.toSorted((a, b) => comparePaths(a.path, b.path))
}

/** A step stands before those inside of it. */
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
  for (const [place, { path }] of entries.entries()) {
    if (place === 0) continue
    const before = entries[place - 1]?.path ?? []
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
  const call = raw.type === 'call' ? calls.get(String(action.callType).toLowerCase()) : undefined
  if (call === undefined) {
    const text = `${where} has a step of type ${quote(raw.type)}, callType ${quote(action.callType)}`
    throw contradiction(blockNumber, `${text}; expected one of the EVM`)
  }
  const value = call.sends ? readQuantity(action.value, `${where}: value`) : 0n
  return { kind: call.kind, depth, from, to: readAddress(action.to, `${where}: to`), value, ...failed }
}

/** By `callType`. What stands in the value of those that send none is that of the call around them. */
const calls: ReadonlyMap<string, { readonly kind: 'call' | 'delegate'; readonly sends: boolean }> = new Map([
  ['call', { kind: 'call', sends: true }],
  ['staticcall', { kind: 'call', sends: false }],
  ['delegatecall', { kind: 'delegate', sends: false }],
  ['callcode', { kind: 'delegate', sends: false }]
])

function quote(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 80)
}
