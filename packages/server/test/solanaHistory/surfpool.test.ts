import {
  type SolanaDriver,
  type SurfpoolNode,
  seedSolanaWorld,
  solanaHistoryOf,
  solanaMint,
  solanaOwner,
  startSurfpool,
  surfpoolUnsupportedReason
} from '@chain-data/devnet'
import { createDefaultRpcTransport } from '@solana/kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SolanaService, startSolanaService } from '../solana/startSolanaService.ts'
import { askHistory } from './askHistory.ts'
import { expectTruth } from './expectTruth.ts'
import { type Blocks, readBlocks } from './readTruth.ts'

const unsupported = surfpoolUnsupportedReason()
if (unsupported !== undefined) process.stdout.write(`skipped: ${unsupported}\n`)

describe.skipIf(unsupported !== undefined)('the history story on a real node', () => {
  let surfpool: SurfpoolNode
  let driver: SolanaDriver
  let service: SolanaService
  let blocks: Blocks

  beforeAll(async () => {
    surfpool = await startSurfpool()
    driver = await seedSolanaWorld(surfpool, { seed: 25 })
    service = await startSolanaService({ rpcUrls: [surfpool.rpcUrl] })
    blocks = await readBlocks(createDefaultRpcTransport({ url: surfpool.rpcUrl }))
  })

  afterAll(async () => {
    await service?.close()
    await surfpool?.stop()
  })

  const addressOf = (name: string) => solanaOwner(driver.world, name).address

  it('the blocks and what was meant tell the same', () => {
    for (const name of Object.keys(driver.world.owners)) {
      const intended = solanaHistoryOf(driver.world, name).map(
        ({ signature, status, fee, memo, ...each }) => ({
          ...{ signature, status, fee: String(fee), memo, version: each.version, feePayer: each.feePayer },
          lamports: each.lamports[name] && {
            pre: String(each.lamports[name].pre),
            post: String(each.lamports[name].post)
          },
          tokens: each.tokens
            .filter(({ preOwner, postOwner }) => preOwner === name || postOwner === name)
            .map(({ account, mint, preOwner, postOwner, pre, post }) => ({
              ...{ account, mint: solanaMint(driver.world, mint).address },
              ...{ pre: String(preOwner === name ? pre : 0n), post: String(postOwner === name ? post : 0n) },
              owner: addressOf(String(postOwner ?? preOwner))
            }))
            .sort((a, b) => (a.account < b.account ? -1 : 1))
        })
      )
      const walked = blocks.historyOf(addressOf(name)).map(({ slot, index, programs, tokens, ...each }) => ({
        ...each,
        memo: each.memo,
        lamports: each.lamports,
        tokens: tokens.map(({ decimals, ...change }) => change)
      }))
      expect(walked, name).toEqual(intended)
    }
  })

  it('heidi has every transaction, with closed accounts, failed ones, fees, a delegate and changed owners', async () => {
    expectTruth(await askHistory(service, addressOf('heidi')), blocks.historyOf(addressOf('heidi')), 'heidi')
    expectTruth(await askHistory(service, addressOf('ivan')), blocks.historyOf(addressOf('ivan')), 'ivan')
  })

  it('judy misses what only a lookup table names, because this node does not list it, and the gap is named', async () => {
    const judy = addressOf('judy')
    const { transactions, covers, continuity } = await askHistory(service, judy)
    const truth = blocks.historyOf(judy)
    const { signature } = solanaHistoryOf(driver.world, 'judy')[0]!
    expect(truth[0]!.signature).toBe(signature)
    expect(transactions.map(each => each.signature)).toEqual(truth.slice(1).map(each => each.signature))
    expect(covers.continuity).toBe(false)
    expect(continuity.gaps).toEqual([
      {
        ...{ account: judy, older: truth[1]!.signature, cause: 'missing' },
        ...{ post: truth[0]!.lamports!.pre, pre: truth[0]!.lamports!.post }
      }
    ])
  })

  it('accounts that were never funded by a transaction have a gap before their oldest one: the node does not say that it has all blocks', async () => {
    const { covers, continuity } = await askHistory(service, addressOf('alice'))
    expect(covers.continuity).toBe(false)
    expect(continuity.gaps).toContainEqual(
      expect.objectContaining({ account: addressOf('alice'), cause: 'pruned', post: '0' })
    )
  })

  it('plain lists of signatures find less: docs/solana-history.md has the figures', async () => {
    const heidi = addressOf('heidi')
    const truth = blocks.historyOf(heidi).map(({ signature }) => signature)
    const listOf = async (address: string) => {
      const list = await driver.rpc('getSignaturesForAddress', address, { commitment: 'confirmed' })
      return (list as { signature: string }[]).map(({ signature }) => signature)
    }
    const present = driver.world.tokenAccounts.filter(({ owner, isClosed }) => owner === 'heidi' && !isClosed)
    const ofWallet = await listOf(heidi)
    const lists = await Promise.all(present.map(({ address }) => listOf(address)))
    const withAccounts = new Set([...ofWallet, ...lists.flat()])
    expect({
      byIntent: truth.length,
      ofWallet: truth.filter(signature => ofWallet.includes(signature)).length,
      withAccounts: truth.filter(signature => withAccounts.has(signature)).length,
      ofOthers: [...withAccounts].filter(signature => !truth.includes(signature)).length
    }).toEqual({ byIntent: 30, ofWallet: 19, withAccounts: 27, ofOthers: 2 })
  })
})
