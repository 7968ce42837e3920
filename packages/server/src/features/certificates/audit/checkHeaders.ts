import type { IndexedBlock } from '@chain-data/index'
import { NodeContradictionError } from '../../../platform/errors.ts'
import type { Audit } from './Audit.ts'
import { compareBlock } from './examineBlock.ts'
import { readStoredBlocks, type StoredPart } from './readStoredBlocks.ts'

/** Blocks that are read from a node anew and held against their headers. */
export interface VerifiedBlocks {
  /** @throws {NodeContradictionError} no node gives the block in a form that agrees with its header. */
  block(height: number): Promise<IndexedBlock>
}

/** Result of holding the stored blocks of an account against their headers. */
export interface HeadersResult {
  /** Number of blocks that were compared and agree. */
  readonly agreeing: number
  readonly isAltered: boolean
  /** Every block was compared. */
  readonly isComplete: boolean
}

/** Blocks that are read at once; the limits of each node apply besides. */
const blocksAtOnce = 32
/** Maximum of blocks that one certificate reads again. */
const maxBlocks = 10_000
/** Blocks that no node gives, after which no further one is asked for. */
const maxUnread = 8

type Outcome = 'same' | 'altered' | 'unread'

/** Reads each block of the account again, newest first, and compares what is stored with it. */
export async function checkHeaders(audit: Audit, { block }: VerifiedBlocks): Promise<HeadersResult> {
  const { account, sums } = audit.indexed
  const counts: Record<Outcome, number> = { same: 0, altered: 0, unread: 0 }
  let left: number[] = []
  let lowest: number | undefined
  const compareAll = async () => {
    const parts = await audit.read(snapshot => readStoredBlocks(snapshot, account, left))
    const outcomes = await Promise.all(
      left.map(async height => {
        const part = parts.get(height)
        return part === undefined ? 'unread' : await compare(audit, block, height, part)
      })
    )
    for (const outcome of outcomes) counts[outcome]++
    lowest = left.at(-1)
    left = []
  }
  const isEnough = () =>
    audit.isTimeOver || counts.unread >= maxUnread || counts.same + counts.altered >= maxBlocks
  for (const height of sums.heights.newestFirst()) {
    left.push(height)
    if (left.length < blocksAtOnce) continue
    if (isEnough()) break
    await compareAll()
  }
  if (left.length > 0 && !isEnough()) await compareAll()
  const compared = counts.same + counts.altered + counts.unread
  if (compared < sums.heights.size) notReached(audit, lowest, sums.heights.size - compared)
  return {
    agreeing: counts.same,
    isAltered: counts.altered > 0,
    isComplete: counts.same + counts.altered === sums.heights.size
  }
}

function notReached({ indexed, findings }: Audit, lowest: number | undefined, count: number): void {
  const reached =
    lowest === undefined
      ? 'No block was held against its header'
      : `Blocks were held against their headers from block ${indexed.to} down to ${lowest}`
  findings.add({
    kind: 'ROOTS_NOT_CHECKED',
    message: `${reached}; ${count} ${lowest === undefined ? '' : 'older '}${count === 1 ? 'block is' : 'blocks are'} left.`,
    ...(lowest !== undefined && { blockNumber: lowest })
  })
}

async function compare(
  audit: Audit,
  readBlock: VerifiedBlocks['block'],
  height: number,
  part: StoredPart
): Promise<Outcome> {
  const unread = (why: string): Outcome => {
    const message = `Block ${height} was not held against its header: ${why}.`
    audit.findings.add({ kind: 'ROOTS_NOT_CHECKED', message, blockNumber: height })
    return 'unread'
  }
  let block: IndexedBlock
  try {
    block = await readBlock(height)
  } catch (error) {
    return unread(error instanceof NodeContradictionError ? error.message : 'no node gives it')
  }
  const wrong = compareRows(block, part)
  // A node of another branch may have answered; the certificate is about that of the state.
  if (wrong.length > 0 && (await audit.state.hashAt(height)) !== block.ref.hash) {
    return unread('nodes do not agree on it')
  }
  for (const message of wrong) audit.findings.add({ kind: 'WRONG_BLOCK', message, blockNumber: height })
  const found = compareBlock(block, part, audit.indexed.account, audit.knownAt(height))
  for (const finding of found) audit.findings.add(finding)
  return wrong.length + found.length > 0 ? 'altered' : 'same'
}

/** Compares the rows of a block and of those next to it with its header. */
function compareRows(actual: IndexedBlock, { block, before, after }: StoredPart): readonly string[] {
  const { ref, parentHash, timestampSeconds } = actual
  const { number } = ref
  const differences: readonly (readonly [string, unknown, unknown])[] = [
    [`hash of block ${number}`, block?.ref.hash, ref.hash],
    [`parent of block ${number}`, block?.parentHash, parentHash],
    [`timestamp of block ${number}`, block?.timestampSeconds, timestampSeconds],
    [`number of transactions of block ${number}`, block?.transactionCount, actual.transactions.length],
    [`hash of block ${number - 1}`, before?.ref.hash, parentHash],
    [`parent of block ${number + 1}`, after?.parentHash, ref.hash]
  ]
  return differences
    .filter(([, stored, chain]) => stored !== undefined && stored !== chain)
    .map(([what, stored, chain]) => `The index has ${stored} as the ${what}, which is ${chain} on the chain.`)
}
