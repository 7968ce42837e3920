import { setImmediate } from 'node:timers/promises'
import { toBeHex } from 'ethers'
import { callNode, callTogether, type NodeCall } from './callNode.ts'
import { balanceSlot, type ChainPlan, chainFigures, startingTokens } from './planChain.ts'

/** A node takes so many calls in one batch. */
const perBatch = 1_000

/**
 * Makes the chain on an anvil that is at block 0 and mines on demand only.
 * @param blocks - signed transactions of block 2, of block 3, and so on.
 * @param onBlock - runs after each block, also after block 1; the next one waits for it.
 */
export async function playChain(
  url: string,
  plan: ChainPlan,
  blocks: Iterable<readonly string[]>,
  onBlock: (number: number) => Promise<void> | void = () => {}
): Promise<void> {
  const ether = toBeHex(10n ** 24n)
  await callInParts(url, [
    ...[plan.deployer, ...plan.senders.map(({ address }) => address)].map(address => ({
      method: 'anvil_setBalance',
      params: [address, ether]
    })),
    { method: 'anvil_setBlockTimestampInterval', params: [chainFigures.secondsPerBlock] }
  ])
  // All creations have to fit into one block.
  await callNode(url, 'evm_setBlockGasLimit', toBeHex(300_000_000))
  await callInParts(url, plan.creations.map(send))
  await callNode(url, 'evm_mine')
  await onBlock(1)
  await callNode(url, 'evm_setBlockGasLimit', toBeHex(30_000_000))
  // Written past the chain: as transactions they would be as many again as there are senders and tokens.
  const amount = toBeHex(startingTokens, 32)
  await callInParts(
    url,
    plan.senders.flatMap(({ address, tokens }) =>
      tokens.map(token => ({ method: 'anvil_setStorageAt', params: [token, balanceSlot(address), amount] }))
    )
  )
  let number = 2
  let mined: Promise<unknown> = Promise.resolve()
  for (const transactions of blocks) {
    // The next block's transactions have been signed while the node was busy with this one.
    await mined
    await callTogether(url, transactions.map(send))
    mined = mine(url, number++, onBlock)
    mined.catch(() => {})
    // Lets the call go out before the next block is signed.
    await setImmediate()
  }
  await mined
}

async function mine(url: string, number: number, onBlock: (number: number) => Promise<void> | void) {
  // Not in a batch: the node would not wait for what it has not taken yet.
  await callNode(url, 'evm_mine')
  await onBlock(number)
}

async function callInParts(url: string, calls: readonly NodeCall[]): Promise<void> {
  for (let at = 0; at < calls.length; at += perBatch) await callTogether(url, calls.slice(at, at + perBatch))
}

function send(raw: string): NodeCall {
  return { method: 'eth_sendRawTransaction', params: [raw] }
}
