/** The one account whose history is long, and grows: it sends itself nothing but calldata. */
export const busyAccount = '0x00000000000000000000000000000000000b0551'

const calldata = `0x${'c3'.repeat(20_000)}`
const gas = '0x200000'
/** Fit into a block of 30 million gas. */
const perBlock = 12

/** One JSON-RPC call to the node. */
export type NodeCall = (method: string, params: readonly unknown[]) => Promise<unknown>

export function createNodeCall(rpcUrl: string): NodeCall {
  return async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body
    })
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
    if (error !== undefined) throw new Error(`${method}: ${error.message}`)
    return result
  }
}

/** Mines blocks full of it until the account has sent `count` transactions. */
export async function makeBusy(call: NodeCall, count: number): Promise<void> {
  await call('anvil_setBalance', [busyAccount, '0xffffffffffffffffffff'])
  await call('anvil_impersonateAccount', [busyAccount])
  for (let sent = 0; sent < count; ) {
    for (let i = 0; i < perBlock && sent < count; i++, sent++) await sendOne(call, calldata)
    await call('evm_mine', [])
  }
}

/** One more block with one more of its transactions, a small one. */
export async function mineOneMore(call: NodeCall): Promise<void> {
  await sendOne(call, '0x')
  await call('evm_mine', [])
}

async function sendOne(call: NodeCall, data: string): Promise<void> {
  await call('eth_sendTransaction', [{ from: busyAccount, to: busyAccount, data, gas }])
}
