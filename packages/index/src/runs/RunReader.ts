import { firstTransactionId } from '../record/transactionId.ts'
import type { ChunkReads } from './chunkReads.ts'
import { type FilteredRun, mayHave } from './filters.ts'
import { GroupCursor } from './GroupCursor.ts'
import { sections } from './sections.ts'
import { type FoundToken, TokenScan } from './TokenScan.ts'

/** Tokens that are given at once, about. */
const tokensAtOnce = 500

/** Reads the runs of one chain, as one transaction sees them. */
export class RunReader {
  readonly #reads: ChunkReads
  readonly #chainId: number
  readonly #newestFirst: readonly FilteredRun[]

  /** @param newestFirst - all runs, or some of them. */
  constructor(reads: ChunkReads, chainId: number, newestFirst: readonly FilteredRun[]) {
    this.#reads = reads
    this.#chainId = chainId
    this.#newestFirst = newestFirst
  }

  /** Reads the transactions that an account is a party of, newest first. */
  history(address: Uint8Array, before?: number): GroupCursor {
    const older =
      before === undefined
        ? this.#newestFirst
        : this.#newestFirst.filter(({ run }) => firstTransactionId(run.firstBlock) < before)
    const runs = mayHave(older, address)
    return new GroupCursor(this.#reads, this.#chainId, sections.address, runs, address, before)
  }

  /**
   * Reads the transactions whose hashes begin like this one, newest first.
   * @param block - that they are in; absent: any.
   */
  hash(hash: Uint8Array, block?: number): GroupCursor {
    const { groupLength } = sections.hash
    const all = this.#newestFirst.map(({ run }) => run)
    const runs =
      block === undefined
        ? all
        : all.filter(({ firstBlock, lastBlock }) => firstBlock <= block && block <= lastBlock)
    return new GroupCursor(this.#reads, this.#chainId, sections.hash, runs, hash.subarray(0, groupLength))
  }

  /** Reads the first ids of the blocks with events of an account, ascending, run after run. */
  async *eventBlocks(address: Uint8Array, fromBlock: number): AsyncGenerator<readonly number[]> {
    for (const { run } of this.#newestFirst.toReversed()) {
      if (run.lastBlock < fromBlock) continue
      const cursor = new GroupCursor(this.#reads, this.#chainId, sections.event, [run], address)
      const { ids } = await cursor.next(Number.MAX_SAFE_INTEGER)
      if (ids.length > 0) yield ids.toReversed()
    }
  }

  /**
   * Reads the tokens that an account sent or received, each once; ordered by contract, standard and key of the ids.
   * @remarks Every run has its own ordered list, in which a token may appear again. All lists are read side by side; what sorts not
   *   after the last token of every list that goes on is complete.
   */
  async *tokens(owner: Uint8Array): AsyncGenerator<readonly FoundToken[]> {
    const lists = mayHave(this.#newestFirst, owner).map(run => ({
      scan: new TokenScan(this.#reads, this.#chainId, run, owner),
      tokens: [] as readonly FoundToken[]
    }))
    let complete: FoundToken[] = []
    for (let goesOn = true; goesOn; ) {
      for (const list of lists) {
        while (list.tokens.length === 0 && list.scan.goesOn) list.tokens = await list.scan.next()
      }
      const ends = lists.flatMap(({ scan, tokens }) => (scan.goesOn ? tokens.slice(-1) : []))
      const end = ends.sort(compareTokens)[0]
      for (const list of lists) {
        const count = end === undefined ? list.tokens.length : countUpTo(list.tokens, end)
        complete.push(...list.tokens.slice(0, count))
        list.tokens = list.tokens.slice(count)
      }
      goesOn = end !== undefined
      if (goesOn && complete.length < tokensAtOnce) continue
      const tokens = withoutRepeats(complete)
      complete = []
      if (tokens.length > 0) yield tokens
    }
  }
}

function countUpTo(tokens: readonly FoundToken[], end: FoundToken): number {
  const after = tokens.findIndex(token => compareTokens(token, end) > 0)
  return after < 0 ? tokens.length : after
}

/** Sorts tokens in place. @returns each once. */
function withoutRepeats(tokens: FoundToken[]): readonly FoundToken[] {
  let previous: FoundToken | undefined
  return tokens.sort(compareTokens).filter(token => {
    const isNew = previous === undefined || compareTokens(previous, token) !== 0
    previous = token
    return isNew
  })
}

function compareTokens(a: FoundToken, b: FoundToken): number {
  return (
    Buffer.compare(a.contract, b.contract) || a.standard - b.standard || Buffer.compare(a.tokenId, b.tokenId)
  )
}
