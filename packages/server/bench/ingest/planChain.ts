import {
  computeAddress,
  concat,
  getCreateAddress,
  hexlify,
  Interface,
  id,
  keccak256,
  SigningKey,
  toBeHex,
  zeroPadValue
} from 'ethers'
import { devContract } from '../../../devnet/src/evm/contracts.ts'
import { createRandom, type Random } from '../../../devnet/src/platform/createRandom.ts'
import { compileYul } from '../../scripts/compileYul.ts'
import { createQuickSigner, type QuickSigner } from './createQuickSigner.ts'
import { drawCall } from './drawTraffic.ts'

/** What the chain consists of; a change of any figure, or of how it is made, needs another `version`. */
export const chainFigures = {
  version: 2,
  seed: 20_261_121,
  chainId: 31_337,
  /** Each holds ether and some of three tokens. */
  senders: 2_000,
  tokens: 100,
  /** Contracts of `Traffic.yul`. */
  applications: 60,
  /** Block 1 creates tokens and applications, blocks 2 to this one hold `transactionsPerBlock` each. */
  lastBlock: 1_001,
  transactionsPerBlock: 150,
  /** Of 1,000 transactions: plain payments, transfers of tokens; the others call applications. */
  payments: 300,
  tokenTransfers: 280,
  /** Of 1,000 token transfers: more than the sender has; of 1,000 calls: those that fail. Six in a hundred of all. */
  failing: 86,
  /** Of 1,000 transactions; the others are of type 2. */
  types: { legacy: 140, accessList: 5, authorization: 5 },
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
  /** Signed transactions that create tokens and applications. */
  readonly creations: readonly string[]
  /** The signed transactions of block 2, of block 3, and so on; some 0.1 s of work each. */
  blocks(): Generator<readonly string[]>
}

const busyAccount = 1
const firstKnown = 2
const firstNew = 2 ** 24

/** Receives one in ten. */
export const busyAddress = addressOf(busyAccount)

const gwei = 10n ** 9n
const erc20 = new Interface(['function transfer(address to, uint256 amount)'])

/** The same chain on every call. */
export function planChain(): ChainPlan {
  const { senders: senderCount, tokens: tokenCount, applications: applicationCount, seed } = chainFigures
  const sign = createQuickSigner()
  const deployerKey = id('deployer')
  const deployer = computeAddress(deployerKey)
  const created = Array.from({ length: tokenCount + applicationCount }, (_, nonce) =>
    getCreateAddress({ from: deployer, nonce }).toLowerCase()
  )
  const shared = createRandom(seed)
  const popularToken = () => popular(shared, created.slice(0, tokenCount))
  const keys = Array.from({ length: senderCount }, (_, index) => id(`sender ${index}`))
  const senders = keys.map(key => ({
    address: computeAddress(key).toLowerCase(),
    tokens: [popularToken(), popularToken(), popularToken()]
  }))
  const applications = created.slice(tokenCount)

  function* blocks() {
    const random = createRandom(seed + 1)
    const nonces = senders.map(() => 0)
    for (let number = 2; number <= chainFigures.lastBlock; number++) {
      yield Array.from({ length: chainFigures.transactionsPerBlock }, (_, place) => {
        const index = random.below(senderCount)
        const nonce = nonces[index] ?? 0
        nonces[index] = nonce + 1
        const tokens = senders[index]?.tokens ?? []
        const call = drawTransaction(random, newAccount(number, place), tokens, applications)
        const type = drawType(random)
        // What an access list and an authorization cost by themselves.
        const gasLimit = call.gasLimit + (type.type % 2 === 0 && type.type < 4 ? 0n : 50_000n)
        return sign(keys[index] ?? deployerKey, { ...call, ...type, gasLimit, chainId, nonce })
      })
    }
  }

  return { senders, deployer, creations: signCreations(sign, deployerKey), blocks }
}

const { chainId } = chainFigures

/** Few have most of the traffic, as on real chains. */
function popular(random: Random, contracts: readonly string[]): string {
  return contracts[Math.floor(contracts.length * (random.below(1_000) / 1_000) ** 3)] ?? ''
}

function drawTransaction(
  random: Random,
  newOne: number,
  tokens: readonly string[],
  applications: readonly string[]
) {
  const kind = random.below(1_000)
  const fails = random.below(1_000) < chainFigures.failing
  const amount = BigInt(1 + random.below(1_000_000_000))
  if (kind < chainFigures.payments) {
    const to = addressOf(drawReceiver(random, newOne))
    return { to, value: amount * 1_000n, gasLimit: 21_000n }
  }
  if (kind < chainFigures.payments + chainFigures.tokenTransfers) {
    const moved = [addressOf(drawReceiver(random, newOne)), fails ? startingTokens * 2n : amount]
    const data = erc20.encodeFunctionData('transfer', moved)
    return { to: tokens[random.below(3)] ?? '', data, gasLimit: 90_000n }
  }
  const drawAccount = () => (random.below(100) < 12 ? newOne : drawKnown(random))
  const data = drawCall(random, fails, drawAccount)
  return {
    to: popular(random, applications),
    data: hexlify(data),
    gasLimit: 300_000n + 50n * BigInt(data.length)
  }
}

function drawReceiver(random: Random, newOne: number): number {
  const kind = random.below(100)
  if (kind < chainFigures.toBusy) return busyAccount
  if (kind < chainFigures.toBusy + chainFigures.toNew) return newOne
  return drawKnown(random)
}

function drawKnown(random: Random): number {
  return firstKnown + random.below(chainFigures.receivers)
}

function drawType(random: Random) {
  const { legacy, accessList, authorization } = chainFigures.types
  const kind = random.below(1_000)
  const gasPrice = 3n * gwei
  if (kind < legacy) return { type: 0, gasPrice }
  if (kind < legacy + accessList) {
    const keys = [toBeHex(random.below(9), 32), toBeHex(random.below(9), 32)]
    return { type: 1, gasPrice, accessList: [{ address: busyAddress, storageKeys: keys }] }
  }
  const fees = { maxFeePerGas: 4n * gwei, maxPriorityFeePerGas: BigInt(random.below(2 ** 30)) }
  if (kind >= legacy + accessList + authorization) return { type: 2, ...fees }
  return { type: 4, ...fees, authorizationList: [anyAuthorization] }
}

function signCreations(sign: QuickSigner, deployerKey: string): readonly string[] {
  const { abi, bytecode } = devContract('DevToken')
  const { bytecode: traffic } = compileYul(new URL('Traffic.yul', import.meta.url), 'Traffic')
  return Array.from({ length: chainFigures.tokens + chainFigures.applications }, (_, nonce) =>
    sign(deployerKey, {
      type: 2,
      chainId,
      nonce,
      data:
        nonce < chainFigures.tokens
          ? concat([bytecode, abi.encodeDeploy([`Benchmark token ${nonce}`, `BENCH${nonce}`, 18])])
          : `0x${traffic}`,
      maxFeePerGas: 4n * gwei,
      maxPriorityFeePerGas: gwei,
      gasLimit: 2_000_000n
    })
  )
}

/** Of an authority that is nobody of the chain, and with a nonce that it never has: it takes no effect. */
const anyAuthorization = {
  address: busyAddress,
  chainId: BigInt(chainId),
  nonce: 1n,
  signature: new SigningKey(id('authority')).sign(id('authorization'))
}

/** How many transactions are in the blocks up to and with this one, which is not block 0. */
export function transactionsUpTo(lastBlock: number): number {
  const { tokens, applications, transactionsPerBlock } = chainFigures
  return tokens + applications + (lastBlock - 1) * transactionsPerBlock
}

/** Base units that a sender has of each of its tokens in the beginning. */
export const startingTokens = 10n ** 24n

/** Where a token keeps a balance: the first slot is a mapping. @see https://docs.soliditylang.org (layout of storage) */
export function balanceSlot(holder: string): string {
  return keccak256(concat([zeroPadValue(holder, 32), toBeHex(0, 32)]))
}

/** The address of an account by its number, as `Traffic.yul` computes it; nobody has its key. */
export function addressOf(account: number): string {
  return `0x${keccak256(toBeHex(account, 32)).slice(-40)}`
}

/** The account that only this transaction may have named first. */
export function newAccount(block: number, place: number): number {
  return firstNew + block * 256 + place
}
