import { evmHoldingsTables, solanaHoldingsTables, transactionsTable } from './answerTables.ts'
import type { ProgressOutput } from './createProgress.ts'
import { curlLine, type WireCall } from './curlLine.ts'
import type { Subject } from './openSubject.ts'
import type { CliOptions } from './readOptions.ts'
import type { Service } from './startService.ts'

/** Newest transactions asked for where a history may be endless. */
const remoteLimit = 100

/**
 * Calls every method the subject has a chain for, and prints the answer as a table with the `curl` line that asks
 * the same.
 *
 * @throws When a call fails: nothing is skipped.
 */
export async function showAnswers(
  subject: Subject,
  { baseUrl, client }: Service,
  { projectId, serverKey }: CliOptions,
  output: ProgressOutput
): Promise<void> {
  const width = output.columns
  const show = (
    title: string,
    table: string,
    call: Pick<WireCall, 'endpoint' | 'method' | 'chainId' | 'params'>
  ) => {
    output.write(
      `\n${call.method}: ${title}\n${table}\n${curlLine({ ...call, baseUrl, projectId, serverKey })}\n`
    )
  }

  if (subject.showEvm !== undefined) {
    const { chainId, address, name } = subject.showEvm
    const page = subject.devnet === undefined ? { limit: remoteLimit } : {}
    const who = `${name}, ${address}, on chain ${chainId}`
    const endpoint = '/evm-chain'
    const history = await client.getTransactionsByAddress({ chainId, address, ...page })
    const count = history.length === remoteLimit ? `newest ${remoteLimit}` : history.length
    show(`${count} transactions of ${who}`, transactionsTable(history, address, width), {
      ...{ endpoint, chainId, method: 'svc_getTransactionsByAddress' },
      params: subject.devnet === undefined ? [address, page] : [address]
    })
    const holdings = await client.getTokensAndNFTs({ chainId, address })
    show(`holdings of ${who}`, evmHoldingsTables(holdings, width), {
      ...{ endpoint, chainId, method: 'svc_getTokensAndNFTs', params: [address] }
    })
  }
  if (subject.showSolana !== undefined) {
    const { chainId, address, name } = subject.showSolana
    const options = { parseMetadataUri: true }
    const holdings = await client.enhancedGetTokensAndNFTs({ chainId, address, ...options })
    show(`holdings of ${name}, ${address}, on chain ${chainId}`, solanaHoldingsTables(holdings, width), {
      ...{ endpoint: '/solana', chainId, method: 'enhancedGetTokensAndNFTs', params: [address, options] }
    })
  }
}
