import {
  openIndexToReset,
  openStoreReader,
  StoreError,
  StoreInUseError,
  type StoreLocation
} from '@chain-data/index'
import { formatBytes } from '../check/checkStore.ts'
import { loadConfig } from '../config/config.ts'
import { storeOf } from '../config/parseStoreUrl.ts'
import { createAsker } from './createAsker.ts'
import { CommandError } from './reporting.ts'

const refusedExit = 1

/**
 * `chain-data reset <chainId>`: names the index of a chain, asks, and keeps it aside, so that the next server begins a new
 * one. Exit code 0 when it is done or there was no index, 1 when it is not done, 2 for a wrong configuration.
 */
export async function reset(
  chainId: number,
  { config: file, yes = false }: { readonly config?: string; readonly yes?: boolean }
): Promise<void> {
  const config = await loadConfig(file)
  const location = storeOf(config, chainId)
  if (location.kind === 'memory') {
    process.stdout.write('The store is in memory, and gone with its server: there is nothing to reset.\n')
    return
  }
  try {
    const isDone = await resetIndex(location, chainId, yes)
    if (!isDone) process.exitCode = refusedExit
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const isInUse = error instanceof StoreInUseError
    throw new CommandError(
      isInUse ? `A server writes the index of chain ${chainId}: stop it, and reset again.` : error.message
    )
  }
}

/** @returns false where nothing was done because nobody has agreed. */
async function resetIndex(location: StoreLocation, chainId: number, isAgreed: boolean): Promise<boolean> {
  const blocks = await describeBlocks(location, chainId)
  const index = await openIndexToReset(location, chainId)
  if (index === undefined) {
    process.stdout.write(`There is no index of chain ${chainId}: there is nothing to reset.\n`)
    return true
  }
  try {
    const { place, aside, bytes, replacesEarlier } = index
    const earlier = replacesEarlier ? ' The one that is kept there already is deleted.' : ''
    process.stdout.write(
      `Index of chain ${chainId}: ${place}, ${blocks}, ${formatBytes(bytes)}.\nIt will be kept as ${aside}.${earlier}\n`
    )
    const asker = createAsker(!isAgreed)
    if (!isAgreed && !(await asker.confirm('Reset it?', false))) {
      const advice = asker.isInteractive ? '' : ' Repeat with --yes to agree.'
      process.stderr.write(`Nothing was done.${advice}\n`)
      return false
    }
    await index.keepAside()
    process.stdout.write(`Chain ${chainId} is indexed anew at the next start.\n`)
    return true
  } finally {
    await index.close()
  }
}

/** An index that this program cannot read may be reset as well. */
async function describeBlocks(location: StoreLocation, chainId: number): Promise<string> {
  try {
    const reader = await openStoreReader(location, chainId, { connections: 1 })
    try {
      const range = await (await reader.openSnapshot()).indexedRange()
      return range === undefined ? 'no blocks' : `blocks ${range.from} to ${range.to.number}`
    } finally {
      await reader.close()
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return 'blocks that this version cannot read'
  }
}
