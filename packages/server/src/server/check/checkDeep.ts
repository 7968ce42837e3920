import { openStoreReader } from '../../index/openStoreReaders.ts'
import { type StoreLocation, storeOf } from '../../index/parseStoreUrl.ts'
import { type CheckedPiece, walkIndex } from '../../index/walkIndex.ts'
import { type Damage, describeDamage, IndexDamagedError, StoreError } from '../../platform/errors.ts'
import type { Config } from '../config/config.ts'
import { type Findings, judge, type PlacedFinding } from './findings.ts'

/** Damaged parts that are named in the sentence; JSON lists all. */
const maxNamed = 10

/**
 * Compares the whole index of each chain with its checksums, next to a running server or without one. The server that
 * indexes a chain is reported its damage, and replaces the blocks.
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
    const found = await checkIndex(location, chainId, met, piece => onPiece(chainId, piece)).catch(error => {
      if (!(error instanceof StoreError)) throw error
      if (!(error instanceof IndexDamagedError)) {
        return judge`damage ${chainId} | error | | not everything was checked: ${error.message} | see to that, and check again`
      }
      met.set('', error.damage)
      return []
    })
    const all = met.size === 0 ? found : [...judgeDamage(chainId, [...met.values()]), ...found]
    findings.push(...all.map(finding => ({ place: 'store', ...finding })))
  }
  return findings
}

/** @param met - gets each damaged part. */
async function checkIndex(
  location: StoreLocation,
  chainId: number,
  met: Map<string, Damage>,
  onPiece: (piece: CheckedPiece) => void
): Promise<Findings> {
  const reader = await openStoreReader(location, chainId)
  try {
    let blocks = 0
    for await (const piece of walkIndex(reader)) {
      for (const damage of piece.damage) met.set(JSON.stringify(damage), damage)
      blocks += piece.blocks
      onPiece(piece)
    }
    // Where that cannot be done the server finds it by itself, later.
    for (const damage of met.values()) await reader.reportDamage(damage).catch(() => undefined)
    if (met.size > 0) return []
    const snapshot = await reader.openSnapshot()
    const from = (await snapshot.indexedRange())?.from
    const counted = `${blocks} ${blocks === 1 ? 'block' : 'blocks'} checked, no damage`
    return judge`damage ${chainId} | ok | | ${from === undefined ? 'nothing is indexed yet' : counted}`
  } finally {
    await reader.close()
  }
}

function judgeDamage(chainId: number, met: readonly Damage[]): Findings {
  // Damage without a block comes last.
  const blockOf = ({ block = Number.MAX_SAFE_INTEGER }: Damage) => block
  const damage = met.toSorted((one, other) => blockOf(one) - blockOf(other))
  const parts = damage.map(each => {
    const isKeyed = each.block === undefined && each.key !== undefined
    return `${describeDamage(each)}${isKeyed ? ` at key ${each.key}` : ''}`
  })
  const more = parts.length > maxNamed ? ` and ${parts.length - maxNamed} more` : ''
  const count = parts.length === 1 ? '1 part is damaged' : `${parts.length} parts are damaged`
  const found = `${count}: ${parts.slice(0, maxNamed).join(', ')}${more}`
  const isLost = damage.some(({ part }) => part === 'file' || part === 'meta')
  return judge`
    damage ${chainId} | error | ${isLost} | ${found} | run "chain-data reset ${chainId}" to index the chain anew
    damage ${chainId} | error | | ${found} | a server that indexes the chain fetches the blocks again and replaces them; see docs/damage.md
  `.map(finding => ({ ...finding, damage }))
}
