import { type ScriptedNode, startScriptedNode } from '../solana/startScriptedNode.ts'
import { type SolanaService, startSolanaService } from '../solana/startSolanaService.ts'
import type { Ledger } from './scripted/createLedger.ts'
import { createValidator, type ValidatorOptions } from './scripted/createValidator.ts'

export interface LedgerService {
  readonly node: ScriptedNode
  readonly service: SolanaService
  close(): Promise<void>
}

/** A server over one scripted validator. @param options - Of the validator, and of the server beside its node. */
export async function serveLedger(
  ledger: Ledger,
  options: ValidatorOptions = {},
  config: Parameters<typeof startSolanaService>[1] = {}
): Promise<LedgerService> {
  const node = await startScriptedNode(createValidator(ledger, options))
  const service = await startSolanaService({ rpcUrls: [node.url] }, config)
  return {
    ...{ node, service },
    async close() {
      await service.close()
      await node.close()
    }
  }
}
