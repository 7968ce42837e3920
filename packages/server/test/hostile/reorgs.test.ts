import type { EvmHoldings } from '@chain-data/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { type ChaosNode, chaosNodes } from '../chaos/chaosNodes.ts'
import { type BranchingChain, createBranchingChain, linesOf } from './createBranchingChain.ts'
import { type HostileService, startHostileService } from './startHostileService.ts'

/** An answer in the words of the ledger. */
function linesIn({ tokens, nfts }: EvmHoldings): string[] {
  return [
    ...tokens.map(({ address, name, decimals, amount }) =>
      ['token', address, name, decimals, amount].join(' ')
    ),
    ...nfts.map(({ address, name, tokenId, tokenBalance, isSemiFungible }) =>
      [isSemiFungible ? 'units' : 'nft', address, name, tokenId, tokenBalance].join(' ')
    )
  ].sort()
}

/** Index and node stay apart while they are asked here: a call that waits longer for them learns nothing. */
const requestDeadlineMs = patient(1_500)

describe.each(chaosNodes)('over $name, an answer is the truth of its block', ({ name, start }) => {
  let node: ChaosNode
  let chain: BranchingChain
  let service: HostileService
  let token: string
  let nft: string
  let units: string

  beforeAll(async () => {
    node = await start()
    chain = await createBranchingChain(node)
    service = await startHostileService(node)
  })

  afterAll(async () => {
    await service?.close()
    await node?.stop()
  })

  /** Contracts of each test's own, and the block to which it goes back. */
  beforeEach(async () => {
    const { alice, bob } = chain
    token = await chain.deploy('token', 'Branch Token', 6)
    nft = await chain.deploy('nft', 'Branch Art')
    units = await chain.deploy('units', 'Branch Items')
    await chain.mint(token, alice, 1_000n)
    for (const id of [1n, 2n, 3n]) await chain.mint(nft, id === 3n ? bob : alice, id)
    await chain.mint(units, alice, 10n)
    await chain.mark()
    await expectTruth()
  })

  /** Once the index stands on the head: both accounts, everything and by list. */
  async function expectTruth(): Promise<void> {
    await service.reach(chain.headHash())
    for (const account of [chain.alice, chain.bob]) {
      expectTruthAt(await service.holdings(account), account)
      const answer = await service.holdings(account, [token, nft])
      const wanted = truthAt(answer, account).filter(line => line.includes(token) || line.includes(nft))
      // A listed token is shown with 0 too.
      expect(linesIn(answer).filter(line => !line.endsWith(' 0'))).toEqual(wanted)
      expect(answer.asOf?.blockHash).toBe(chain.headHash())
    }
  }

  function truthAt(answer: EvmHoldings, account: string): string[] {
    const ledger = chain.truths.get(answer.asOf?.blockHash ?? '')
    if (ledger === undefined) throw new Error(`block ${answer.asOf?.blockHash} never was`)
    return linesOf(ledger, account)
  }

  function expectTruthAt(answer: EvmHoldings, account: string): void {
    expect(linesIn(answer)).toEqual(truthAt(answer, account))
    expect(answer.incomplete).toBeUndefined()
  }

  /** Things received, moved and minted. */
  async function playBranch(): Promise<void> {
    const { alice, bob } = chain
    await chain.mint(token, bob, 77n)
    await chain.move(token, alice, bob, 400n)
    await chain.move(nft, alice, bob, 1n)
    await chain.mint(nft, alice, 50n)
    await chain.move(units, alice, bob, 10n)
    await chain.mint(units, bob, 3n)
  }

  test('when what was received, moved and minted is undone, and other things happen', async () => {
    const { alice, bob } = chain
    await playBranch()
    await expectTruth()
    await chain.undo()
    await chain.mint(nft, bob, 50n)
    await chain.move(nft, alice, bob, 2n)
    await chain.move(token, alice, bob, 1n)
    for (let i = 0; i < 4; i++) await chain.mint(token, alice, 5n)
    await expectTruth()
  })

  test('when an NFT moves away and back, on either side of a reorg', async () => {
    const { alice, bob } = chain
    await chain.move(nft, alice, bob, 1n)
    await chain.move(nft, bob, alice, 3n)
    await expectTruth()
    await chain.undo()
    // 1 is where it was; 2 goes away and comes back; 3 comes in the new branch too, and goes back.
    await chain.move(nft, alice, bob, 2n)
    await chain.move(nft, bob, alice, 2n)
    await chain.move(nft, bob, alice, 3n)
    await chain.move(nft, alice, bob, 3n)
    await expectTruth()
  })

  test('while the chain reorganises', async () => {
    const { alice, bob } = chain
    await playBranch()
    await expectTruth()
    const hasty = await startHostileService(node, { requestDeadlineMs })
    const answers: { account: string; answer: EvmHoldings }[] = []
    // Between the steps, not beside them: anvil reads the state of a newest block that it is about to lengthen.
    const askFor = async (account: string) => {
      const answer = await hasty.holdings(account).catch(() => undefined)
      if (answer !== undefined) answers.push({ account, answer })
    }
    const ask = () => Promise.all([alice, bob].map(askFor))
    try {
      await hasty.reach(chain.headHash())
      for (let round = 0n; round < 2n; round++) {
        await chain.undo()
        await ask()
        await chain.move(token, alice, bob, 1n + round)
        await chain.move(nft, alice, bob, 1n + (round % 2n))
        await ask()
        for (let i = 0; i < 5; i++) await chain.mint(units, bob, 1n + round)
        await ask()
        await hasty.reach(chain.headHash())
      }
    } finally {
      await hasty.close()
    }
    expect(answers.length).toBeGreaterThan(0)
    // No ghosts. That nothing is missing either is the next test's.
    for (const { account, answer } of answers) {
      expect(truthAt(answer, account)).toEqual(expect.arrayContaining(linesIn(answer)))
    }
    await expectTruth()
  })

  test('before the index has seen the reorg; or there is no answer', async () => {
    const slow = await startHostileService(node, { pollIntervalMs: 600_000, requestDeadlineMs })
    try {
      const { alice } = chain
      await chain.mint(token, alice, 1n)
      await service.reach(chain.headHash())
      await slow.reach(chain.headHash())
      await chain.undo()
      for (const id of [60n, 61n]) await chain.mint(nft, alice, id)
      const answer = await slow.holdings(alice).catch((error: Error) => error.message)
      if (typeof answer === 'string') expect(answer).toContain('UPSTREAM_UNAVAILABLE')
      else expectTruthAt(answer, alice)
    } finally {
      await slow.close()
    }
  })

  // The others can only go back to a snapshot and mine anew.
  test.runIf(name === 'anvil')('when blocks are replaced without a lower head in between', async () => {
    await playBranch()
    await expectTruth()
    // Both transfers of alice stay; her NFT, her units and what bob is given later are undone.
    await chain.replaceInPlace?.([0, 1, 2])
    await expectTruth()
  })

  test('when another contract comes to stand at the address of one that is undone', async () => {
    const { alice } = chain
    const ghost = await chain.deploy('token', 'Ghost', 6)
    await chain.mint(ghost, alice, 5n)
    await expectTruth()
    await chain.undo()
    const heir = await chain.deploy('nft', 'Heir')
    expect(heir).toBe(ghost)
    await chain.mint(heir, alice, 5n)
    await chain.mint(token, alice, 1n)
    await expectTruth()
  })
})
