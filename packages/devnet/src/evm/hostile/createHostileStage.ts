import { getCreateAddress, toQuantity } from 'ethers'
import { DevnetError } from '../../DevnetError.ts'
import type { JsonRpc } from '../../platform/jsonRpc.ts'
import type { HostileStage, HostileToken } from './HostileToken.ts'

/** Enough for the largest of the contracts; small enough for a block of any development node. */
const gasLimit = toQuantity(8_000_000)

/** Parties of a {@link HostileStage}: unlocked accounts of the node. */
export interface HostileCast {
  /** Deploys everything. */
  readonly deployer: string
  readonly holder: string
  readonly stranger: string
}

/**
 * A stage on any development node (anvil, hardhat) that signs for its accounts and takes `evm_mine`. Each call
 * is a transaction of its own, in a block before the call resolves.
 *
 * @throws {DevnetError} `NODE_REFUSED` when the node does not take a transaction, or the transaction fails.
 */
export function createHostileStage(rpc: JsonRpc, cast: HostileCast): HostileStage {
  const { deployer, holder, stranger } = cast

  async function send(from: string, transaction: Readonly<Record<string, string>>): Promise<void> {
    const hash = await rpc('eth_sendTransaction', { from, gas: gasLimit, ...transaction })
    let receipt = await rpc('eth_getTransactionReceipt', hash)
    if (receipt === null) {
      await rpc('evm_mine')
      receipt = await rpc('eth_getTransactionReceipt', hash)
    }
    const status = (receipt as { status?: unknown } | null)?.status
    if (status !== '0x1') {
      throw new DevnetError(
        'NODE_REFUSED',
        `transaction ${String(hash)}: status ${String(status)} instead of 0x1`
      )
    }
  }

  return {
    holder,
    stranger,
    async create(creationCode) {
      const nonce = Number(await rpc('eth_getTransactionCount', deployer, 'latest'))
      await send(deployer, { data: creationCode })
      return getCreateAddress({ from: deployer, nonce })
    },
    call: (to, data, { from = deployer, valueWei = 0n } = {}) =>
      send(from, { to, data, value: toQuantity(valueWei) })
  }
}

/** A token of the catalogue that is on the chain. */
export interface PlayedToken {
  readonly token: HostileToken
  /** Checksummed. */
  readonly address: string
}

/** Brings tokens to the chain, one after the other. @throws As {@link createHostileStage}, with the token's key. */
export async function playHostileTokens(
  stage: HostileStage,
  tokens: readonly HostileToken[]
): Promise<readonly PlayedToken[]> {
  const played: PlayedToken[] = []
  for (const token of tokens) {
    const address = await token.play(stage).catch((error: unknown) => {
      if (!(error instanceof DevnetError)) throw error
      throw new DevnetError(error.reason, `${token.key}: ${error.message}`)
    })
    played.push({ token, address })
  }
  return played
}
