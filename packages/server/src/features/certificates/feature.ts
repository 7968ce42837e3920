import { toIndexedBlock } from '../../evm/blocks/blockRows.ts'
import { createEvmSource } from '../../evm/blocks/evmSource.ts'
import { chainPresets } from '../../model/chainPresets.ts'
import { isUnknownPart } from '../../model/waivableChecks.ts'
import { recomputableParts } from '../../server/config/chooseRoots.ts'
import type { Feature, OpenEvmChain } from '../../server/feature/Feature.ts'
import { createAccountStates } from './audit/accountStates.ts'
import { createVerifyHistory } from './svc_verifyHistory.ts'

/** Certificates of EVM histories: what the index has of an account, held against the chain's state and its headers. */
export const certificates: Feature = {
  name: 'certificates',
  open({ evm, services, formatAddress, clock }) {
    const chains = [...evm.values()].map(chain => {
      const { chainId, reader, status, settings } = chain
      const older = services.older?.(chainId)
      const sources = { states: openStates(chain), headers: openHeaders(chain) }
      return [chainId, { chainId, reader, status, traces: settings.traces, older, ...sources }] as const
    })
    return {
      handlers: { svc_verifyHistory: createVerifyHistory({ chains: new Map(chains), formatAddress, clock }) }
    }
  }
}

/** Certificates compare with whole blocks: a block with a part unknown proves nothing. */
function knownWhole({ settings }: OpenEvmChain) {
  return settings.waivers.filter(({ check }) => !isUnknownPart(check))
}

function openStates(chain: OpenEvmChain) {
  const { chainId, rpc } = chain
  const { finality, traces } = chain.settings
  const source = createEvmSource({ rpc, finality, waivers: knownWhole(chain), traces })
  return createAccountStates({ rpc, chainId, source })
}

/** Reads blocks for certificates, each of them held against its header. */
function openHeaders(chain: OpenEvmChain) {
  const { chainId, rpc, settings } = chain
  const { finality, traces, dev } = settings
  const recomputable = recomputableParts(settings)
  const waivers = knownWhole(chain)
  const roots = { ...recomputable, blocks: 'all' } as const
  const source = createEvmSource({ rpc, finality, waivers, traces, dev, roots })
  return {
    parts: recomputable.parts,
    unknownEncoding: chainPresets.get(chainId)?.unknownEncoding,
    block: async (height: number, signal: AbortSignal) => toIndexedBlock(await source.block(height, signal))
  }
}
