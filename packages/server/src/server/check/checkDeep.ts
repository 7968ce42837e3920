import {
  type CheckedPiece,
  type Damage,
  describeDamage,
  IndexDamagedError,
  openStoreReader,
  StoreError,
  walkIndex
} from '@chain-data/index'
import { plural } from '../../platform/plural.ts'
import type { Config } from '../config/config.ts'
import { storeOf } from '../config/parseStoreUrl.ts'
import { judge, type PlacedFinding } from './findings.ts'

/** Damaged parts that are named in the sentence; JSON lists all. */
const maxNamed = 10

/**
 * Compares the whole index of each chain with its checksums, next to a running server or without one. The server that
 * indexes a chain is reported its damage, and heals it.
 */
export async function checkDeep(
  config: Config,
  onPiece: (chainId: number, piece: CheckedPiece) => void
): Promise<readonly PlacedFinding[]> {
  const findings: PlacedFinding[] = []
  for (const { chainId } of config.chains.evm) {
    const location = storeOf(config, chainId)
    // An index in memory began with this process.
    if (location.kind === 'memory') continue
    const met = new Map<string, Damage>()
    let blocks = 0
    let unread = ''
    try {
      const reader = await openStoreReader(location, chainId)
      try {
        for await (const piece of walkIndex(reader)) {
          for (const damage of piece.damage) met.set(JSON.stringify(damage), damage)
          blocks += piece.blocks
          onPiece(chainId, piece)
        }
        // Where that cannot be done the server finds it by itself, later.
        for (const damage of met.values()) await reader.reportDamage(damage).catch(() => undefined)
      } finally {
        await reader.close()
      }
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      if (error instanceof IndexDamagedError) met.set('', error.damage)
      else unread = `not everything was checked: ${error.message}`
    }
    findings.push(...judgeIndex(chainId, blocks, unread, [...met.values()]))
  }
  return findings
}

function judgeIndex(chainId: number, blocks: number, unread: string, met: readonly Damage[]) {
  // Damage without a block comes last.
  const blockOf = ({ block = Number.MAX_SAFE_INTEGER }: Damage) => block
  const damage = met.toSorted((one, other) => blockOf(one) - blockOf(other))
  const parts = damage.map(describeDamage)
  const more = parts.length > maxNamed ? ` and ${parts.length - maxNamed} more` : ''
  const count = `${plural(parts.length, 'part')} ${parts.length === 1 ? 'is' : 'are'} damaged`
  const named = `${count}: ${parts.slice(0, maxNamed).join(', ')}${more}${unread && `; ${unread}`}`
  const isLost = damage.some(({ part }) => part === 'file' || part === 'meta')
  return judge`
    damage ${chainId} | error | ${isLost} | ${named} | run "chain-data reset ${chainId}" to index the chain anew
    damage ${chainId} | error | ${damage.length > 0} | ${named} | a server that indexes the chain fetches damaged blocks again and repairs the rest from them; see docs/damage.md
    damage ${chainId} | error | ${unread} | ${unread} | see to that, and check again
    damage ${chainId} | ok | ${blocks === 0} | nothing is indexed yet
    damage ${chainId} | ok | | ${plural(blocks, 'block')} checked, no damage
  `.map(finding => ({ place: 'store', ...finding, ...(damage.length > 0 && { damage }) }))
}
