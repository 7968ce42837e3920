import { type WalkedBlocks, walkChain } from '../support/walkChain.ts'

/** When somebody asked and was told, by `performance.now`. */
export interface Asked {
  readonly askedAtMs: number
  readonly toldAtMs: number
}

/** What a caller was told of one address: confirmed transactions, newest first, as `<hash> <block number>`. */
export interface ToldHistory extends Asked {
  /** Lower case. */
  readonly address: string
  readonly confirmed: readonly string[]
  /** At most so many were wanted; absent: all. */
  readonly limit?: number
}

/** Which chains there have been, and when. */
export interface Truth {
  /** Changes the chain, and walks what came of it before anything else can change. */
  during<T>(change: () => Promise<T>): Promise<T>
  /** What was told before this moment can be judged. */
  knownUntilMs(): number
  /** @returns why no index of this chain can have told this; absent when one could. */
  judge(told: ToldHistory): string | undefined
  /** Whether an index can have been at this block when it was asked. */
  hadBlock(hash: string, asked: Asked): boolean
  /** ERC-20 contracts that the address, in lower case, has ever received tokens of. */
  erc20sOf(address: string): readonly string[]
}

/** One chain that was the node's. */
interface Version {
  readonly path: readonly string[]
  /** The height up to which it is the version before. */
  readonly common: number
  /** Its first block may have been there from here on, */
  readonly beganMs: number
  /** and its head until here; infinite while it is the newest. */
  endedMs: number
}

/** An index may be behind its node by so much and answer all the same: a look at the pool counts for 15 seconds. */
const mostBehindMs = 17_000

/** Keeps every chain that a node had. The node is the oracle; it is walked by hashes after each change. */
export async function recordTruth(
  rpc: (method: string, ...params: unknown[]) => Promise<unknown>
): Promise<Truth> {
  const known: WalkedBlocks = new Map()
  const versions: Version[] = []
  let changingSinceMs: number | undefined

  async function learn(beganMs: number): Promise<void> {
    const { path } = await walkChain(rpc, 0, known)
    const last = versions.at(-1)
    const apart = last?.path.findIndex((hash, height) => path[height] !== hash) ?? 0
    const common = (apart === -1 ? (last?.path.length ?? 0) : apart) - 1
    if (last !== undefined) last.endedMs = performance.now()
    versions.push({ path, common, beganMs, endedMs: Number.POSITIVE_INFINITY })
  }
  await learn(Number.NEGATIVE_INFINITY)

  /** The chains that an answer may be of, and the height that every index had then. */
  function chainsAround({ askedAtMs, toldAtMs }: Asked) {
    const chains = versions.filter(
      ({ beganMs, endedMs }) => beganMs <= toldAtMs && endedMs >= askedAtMs - mostBehindMs
    )
    // A reorg takes an index down to the common block first.
    const heights = chains.map(({ path, common }, place) => (place === 0 ? path.length - 1 : common))
    return { chains, lowest: Math.min(...heights) }
  }

  const historyIn = ({ path }: Version, address: string) =>
    path
      .flatMap(hash => known.get(hash) ?? [])
      .filter(({ parties }) => parties.has(address))
      .map(({ record }) => ({
        text: `${record.hash} ${record.blockNumber}`,
        block: record.blockNumber as number
      }))

  return {
    async during(change) {
      changingSinceMs = performance.now()
      const outcome = await change()
      await learn(changingSinceMs)
      changingSinceMs = undefined
      return outcome
    },
    knownUntilMs: () => changingSinceMs ?? performance.now(),
    judge({ address, confirmed, limit = Number.POSITIVE_INFINITY, ...asked }) {
      const { chains, lowest } = chainsAround(asked)
      const told = confirmed.toReversed().join(',')
      for (const chain of chains) {
        const history = historyIn(chain, address)
        for (let end = history.filter(({ block }) => block <= lowest).length; end <= history.length; end++) {
          const isInsideBlock = end > 0 && history[end - 1]?.block === history[end]?.block
          if (isInsideBlock) continue
          const part = history.slice(Math.max(0, end - limit), end)
          if (part.map(({ text }) => text).join(',') === told) return undefined
        }
      }
      const newest = chains.at(-1)
      const expected = newest === undefined ? [] : historyIn(newest, address).map(({ text }) => text)
      return `${address}: no chain of that time has [${told}] at block ${lowest} or above; the newest has [${expected}]`
    },
    hadBlock(hash, asked) {
      const { chains, lowest } = chainsAround(asked)
      return chains.some(({ path }) => path.lastIndexOf(hash) >= lowest)
    },
    erc20sOf(address) {
      const found = new Set<string>()
      for (const { holdings } of [...known.values()].flat()) {
        for (const [owner, contract = '', standard] of holdings.map(text => text.split(' '))) {
          if (owner === address && standard === 'erc20') found.add(contract)
        }
      }
      return [...found]
    }
  }
}
