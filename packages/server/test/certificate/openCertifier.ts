import { openStoreReader, type StoreLocation, type SyncStatus } from '@chain-data/index'
import type { CertificateOptions, HistoryCertificate } from '@chain-data/protocol'
import { toIndexedBlock } from '../../src/evm/blocks/blockRows.ts'
import { createEvmSource } from '../../src/evm/blocks/evmSource.ts'
import { createAccountStates } from '../../src/features/certificates/audit/accountStates.ts'
import { createVerifyHistory } from '../../src/features/certificates/svc_verifyHistory.ts'
import { devRoots } from '../../src/model/chainPresets.ts'
import { createEvmRpc } from '../../src/nodes/evm/rpc.ts'
import { createAddressFormat } from '../../src/platform/addressFormat.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { requireSums } from './requireSums.ts'

const chainId = 31337

/** Certificates of an index without a writer, which would heal what is damaged. */
export interface Certifier {
  /** @throws what the method throws. */
  verify(address: string, options?: CertificateOptions): Promise<HistoryCertificate>
  close(): Promise<void>
}

export async function openCertifier(location: StoreLocation, rpcUrl: string): Promise<Certifier> {
  const rpc = createEvmRpc({ chainId, rpcUrls: [rpcUrl] })
  const sourceOptions = { rpc, finality: 'auto', traces: 'on', dev: true } as const
  const source = createEvmSource(sourceOptions)
  const verified = createEvmSource({ ...sourceOptions, roots: { parts: devRoots, blocks: 'all' } })
  const reader = await openStoreReader(location, chainId)
  const verify = createVerifyHistory({
    chains: new Map([
      [
        chainId,
        {
          ...{ chainId, traces: 'on', reader, states: createAccountStates({ rpc, chainId, source }) },
          headers: {
            parts: devRoots,
            block: async (height, signal) => toIndexedBlock(await verified.block(height, signal))
          },
          status: () => ({ chainId, phase: 'following', backfilled: true }) as SyncStatus
        }
      ]
    ]),
    formatAddress: createAddressFormat(),
    clock: systemClock
  })
  return {
    async verify(address, options) {
      const call = { chainId, signal: AbortSignal.timeout(60_000), deadlineMs: Date.now() + 60_000 }
      const asked = options === undefined ? ([address] as const) : ([address, options] as const)
      const certificate = (await verify(asked, call)) as HistoryCertificate
      requireSums(certificate)
      return certificate
    },
    async close() {
      rpc.close()
      await reader.close()
    }
  }
}
