import { openStoreReader } from '../../index/openStoreReaders.ts'
import { type StoreLocation, storeOf } from '../../index/parseStoreUrl.ts'
import { type CheckedPiece, walkIndex } from '../../index/walkIndex.ts'
import { type Damage, describeDamage, IndexDamagedError, StoreError } from '../../platform/errors.ts'
import type { Config } from '../config/config.ts'
import { type Finding, failure, ok, type PlacedFinding } from './findings.ts'

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
    // It began with this process.
    if (location.kind === 'memory') continue
    const found = await checkIndex(location, chainId, piece => onPiece(chainId, piece))
    findings.push(...found.map(finding => ({ place: 'store', ...finding })))
  }
  return findings
}

async function checkIndex(
  location: StoreLocation,
  chainId: number,
  onPiece: (piece: CheckedPiece) => void
): Promise<readonly Finding[]> {
  const check = `damage ${chainId}`
  const met = new Map<string, Damage>()
  const findings: Finding[] = []
  try {
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
      if (met.size === 0) {
        const snapshot = await reader.openSnapshot()
        const from = (await snapshot.indexedRange())?.from
        findings.push(judgeSound(check, blocks, from))
      }
    } finally {
      await reader.close()
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    if (error instanceof IndexDamagedError) met.set('', error.damage)
    else
      findings.push(
        failure(check, `not everything was checked: ${error.message}`, 'see to that, and check again')
      )
  }
  if (met.size === 0) return findings
  const damage = [...met.values()].sort((one, other) => blockOf(one) - blockOf(other))
  return [judgeDamage(check, chainId, damage), ...findings]
}

/** Damage without a block comes last. */
function blockOf({ block = Number.MAX_SAFE_INTEGER }: Damage): number {
  return block
}

/** @param from - first block of the index; absent while it is empty. */
function judgeSound(check: string, blocks: number, from: number | undefined): Finding {
  if (from === undefined) return ok(check, 'nothing is indexed yet')
  return ok(check, `${blocks} ${blocks === 1 ? 'block' : 'blocks'} checked, no damage`)
}

function judgeDamage(check: string, chainId: number, damage: readonly Damage[]): Finding {
  const named = damage.slice(0, maxNamed).map(describePart).join(', ')
  const more = damage.length > maxNamed ? ` and ${damage.length - maxNamed} more` : ''
  const count = damage.length === 1 ? '1 part is damaged' : `${damage.length} parts are damaged`
  const isLost = damage.some(({ part }) => part === 'file' || part === 'meta')
  const advice = isLost
    ? `run "chain-data reset ${chainId}" to index the chain anew`
    : 'a server that indexes the chain fetches the blocks again and replaces them; see docs/damage.md'
  return { ...failure(check, `${count}: ${named}${more}`, advice), damage }
}

function describePart(damage: Damage): string {
  const { block, key } = damage
  const where = block === undefined && key !== undefined ? ` at key ${key}` : ''
  return `${describeDamage(damage)}${where}`
}
