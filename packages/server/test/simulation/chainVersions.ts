import type { EvmWorld } from '@chain-data/devnet'

/** A transaction's place in one account's history. */
interface Placed {
  readonly hash: string
  readonly blockNumber: number
}

/** Every state in which the chain has been: what an answer given at any moment may show. */
export interface ChainVersions {
  /** To be called after everything that changed the chain. */
  record(): void
  /** Whether `confirmed`, newest first, is `address`'s history on one version of the chain up to some block. */
  allow(address: string, confirmed: readonly Placed[]): boolean
  /** Forgets all versions but the newest. */
  forgetOld(): void
}

type Histories = ReadonlyMap<string, readonly Placed[]>

/** @param lowest - blocks up to here are in every version: no answer may leave one of them out. */
export function createChainVersions(world: EvmWorld, lowest: number): ChainVersions {
  let versions: Histories[] = []

  function now(): Histories {
    const histories = new Map<string, Placed[]>()
    for (const { hash, position, roles } of world.transactions) {
      if (position === undefined) continue
      for (const address of new Set(roles.map(role => role.address.toLowerCase()))) {
        const history = histories.get(address) ?? []
        history.push({ hash, blockNumber: position.blockNumber })
        histories.set(address, history)
      }
    }
    const places = new Map(world.transactions.map(({ hash, position }) => [hash, position]))
    const key = ({ hash }: Placed) =>
      (places.get(hash)?.blockNumber ?? 0) * 65_536 + (places.get(hash)?.index ?? 0)
    for (const history of histories.values()) history.sort((a, b) => key(b) - key(a))
    return histories
  }

  return {
    record() {
      versions.push(now())
    },
    allow(address, confirmed) {
      const top = Math.max(lowest, confirmed[0]?.blockNumber ?? 0)
      const found = JSON.stringify(confirmed.map(({ hash, blockNumber }) => [hash, blockNumber]))
      return versions.some(version => {
        const history = (version.get(address.toLowerCase()) ?? []).filter(
          ({ blockNumber }) => blockNumber <= top
        )
        return JSON.stringify(history.map(({ hash, blockNumber }) => [hash, blockNumber])) === found
      })
    },
    forgetOld() {
      versions = versions.slice(-1)
    }
  }
}
