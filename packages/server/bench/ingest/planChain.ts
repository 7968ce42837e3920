import {
  computeAddress,
  concat,
  getCreateAddress,
  Interface,
  id,
  keccak256,
  toBeHex,
  zeroPadValue
} from 'ethers'
import { devContract } from '../../../devnet/src/evm/contracts.ts'
import { createRandom, type Random } from '../../../devnet/src/platform/createRandom.ts'
import { createQuickSigner } from './createQuickSigner.ts'

/** What the chain consists of; a change of any figure, or of how it is made, needs another `version`. */
export const chainFigures = {
  version: 1,
  seed: 20_261_121,
  chainId: 31_337,
  /** Each holds ether and some of three tokens. */
  senders: 2_000,
  tokens: 100,
  /** Block 1 creates the tokens, blocks 2 to this one hold `transactionsPerBlock` each. */
  lastBlock: 2_001,
  transactionsPerBlock: 150,
  /** Of 100 transactions; the others are plain transfers of ether. */
  tokenTransfers: 60,
  /** Of 100 token transfers: more than the sender has, so that they fail. */
  failing: 3,
  /** Of 100 transactions; the others are of type 2. */
  legacy: 20,
  /** Of 100 receivers: the one busy account; an address never seen before; the others are one of `receivers`. */
  toBusy: 10,
  toNew: 25,
  receivers: 20_000,
  secondsPerBlock: 12
} as const

/** Somebody whose transactions are in the chain. */
interface Sender {
  readonly address: string
  /** Contracts it has a balance of. */
  readonly tokens: readonly string[]
}

/** The chain before it is made. */
export interface ChainPlan {
  readonly senders: readonly Sender[]
  /** Has no part in the other blocks. */
  readonly deployer: string
  readonly tokens: readonly string[]
  /** Signed transactions that create the tokens. */
  readonly creations: readonly string[]
  /** The signed transactions of block 2, of block 3, and so on; some 0.1 s of work each. */
  blocks(): Generator<readonly string[]>
}

/** Receives one in ten. */
export const busyAddress = addressOf('busy')

const gwei = 10n ** 9n
const erc20 = new Interface(['function transfer(address to, uint256 amount)'])

/** The same chain on every call. */
export function planChain(): ChainPlan {
  const { senders: senderCount, tokens: tokenCount, seed, chainId } = chainFigures
  const sign = createQuickSigner()
  const deployerKey = id('deployer')
  const deployer = computeAddress(deployerKey)
  const tokens = Array.from({ length: tokenCount }, (_, nonce) =>
    getCreateAddress({ from: deployer, nonce }).toLowerCase()
  )
  const shared = createRandom(seed)
  // Few tokens have most holders, as on real chains.
  const popular = () => tokens[Math.floor(tokenCount * (shared.below(1_000) / 1_000) ** 3)] ?? ''
  const keys = Array.from({ length: senderCount }, (_, index) => id(`sender ${index}`))
  const senders = keys.map(key => ({
    address: computeAddress(key).toLowerCase(),
    tokens: [popular(), popular(), popular()]
  }))
  const receivers = Array.from({ length: chainFigures.receivers }, (_, index) => addressOf(`known ${index}`))

  function pickReceiver(random: Random, newName: string): string {
    const kind = random.below(100)
    if (kind < chainFigures.toBusy) return busyAddress
    if (kind < chainFigures.toBusy + chainFigures.toNew) return addressOf(newName)
    return receivers[random.below(receivers.length)] ?? busyAddress
  }

  function* blocks() {
    const random = createRandom(seed + 1)
    const nonces = senders.map(() => 0)
    for (let number = 2; number <= chainFigures.lastBlock; number++) {
      yield Array.from({ length: chainFigures.transactionsPerBlock }, (_, place) => {
        const index = random.below(senderCount)
        const nonce = nonces[index] ?? 0
        nonces[index] = nonce + 1
        const isTokenTransfer = random.below(100) < chainFigures.tokenTransfers
        const receiver = pickReceiver(random, `new ${number} ${place}`)
        const amount = BigInt(1 + random.below(1_000_000_000))
        const fails = random.below(100) < chainFigures.failing
        const call = isTokenTransfer
          ? {
              to: senders[index]?.tokens[random.below(3)] ?? '',
              data: erc20.encodeFunctionData('transfer', [receiver, fails ? startingTokens * 2n : amount]),
              gasLimit: 90_000n
            }
          : { to: receiver, value: amount * 1_000n, gasLimit: 21_000n }
        const price =
          random.below(100) < chainFigures.legacy
            ? { type: 0, gasPrice: 3n * gwei }
            : { type: 2, maxFeePerGas: 4n * gwei, maxPriorityFeePerGas: BigInt(random.below(2 ** 30)) }
        return sign(keys[index] ?? deployerKey, { ...call, ...price, chainId, nonce })
      })
    }
  }

  const { abi, bytecode } = devContract('DevToken')
  const creations = tokens.map((_, nonce) =>
    sign(deployerKey, {
      type: 2,
      chainId,
      nonce,
      data: concat([bytecode, abi.encodeDeploy([`Benchmark token ${nonce}`, `BENCH${nonce}`, 18])]),
      maxFeePerGas: 4n * gwei,
      maxPriorityFeePerGas: gwei,
      gasLimit: 2_000_000n
    })
  )
  return { senders, deployer, tokens, creations, blocks }
}

/** How many transactions are in the blocks up to and with this one, which is not block 0. */
export function transactionsUpTo(lastBlock: number): number {
  return chainFigures.tokens + (lastBlock - 1) * chainFigures.transactionsPerBlock
}

/** Base units that a sender has of each of its tokens in the beginning. */
export const startingTokens = 10n ** 24n

/** Where a token keeps a balance: the first slot is a mapping. @see https://docs.soliditylang.org (layout of storage) */
export function balanceSlot(holder: string): string {
  return keccak256(concat([zeroPadValue(holder, 32), toBeHex(0, 32)]))
}

/** An address that nobody has the key of. */
export function addressOf(name: string): string {
  return `0x${id(name).slice(-40)}`
}
