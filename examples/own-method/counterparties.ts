import { defineMethod, type Feature, type IndexView, invalidParams } from '@chain-data/server'

/** Adds the method `acme_getCounterparties`: with whom an account has dealt most. */
export const counterparties: Feature = {
  name: 'acme-counterparties',
  open: ({ evm, formatAddress }) => {
    const method = defineMethod({
      name: 'acme_getCounterparties',
      readParams,
      answer: async ({ address, limit }, { chainId }) => {
        const chain = evm.get(chainId ?? 0)
        if (chain === undefined) throw new Error(`no chain ${chainId}`)
        const counts = await chain.readIndex(index => countParties(index, address))
        const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, limit)
        return most.map(([party, transactions]) => ({ address: formatAddress(party), transactions }))
      },
      description: {
        summary: 'With whom an account has dealt most, in its indexed transactions.',
        params: [
          { name: 'address', required: true, schema: { type: 'string' } },
          { name: 'limit', schema: { type: 'integer', minimum: 1, maximum: 100, default: 10 } }
        ],
        result: { name: 'counterparties', schema: { type: 'array' } }
      }
    })
    return { methods: [method] }
  }
}

type Address = Parameters<IndexView['transactions']>[0]

interface Params {
  readonly address: Address
  readonly limit: number
}

function readParams(params: unknown): Params {
  const [address, limit = 10] = Array.isArray(params) ? params : []
  if (!isAddress(address)) throw invalidParams('/params/0', 'must be an address')
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) {
    throw invalidParams('/params/1', 'must be an integer from 1 to 100')
  }
  return { address: address.toLowerCase() as Address, limit }
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value)
}

async function countParties(index: IndexView, address: Address): Promise<ReadonlyMap<Address, number>> {
  const counts = new Map<Address, number>()
  for await (const transactions of index.transactions(address)) {
    for (const { from, to, transfers } of transactions) {
      const parties = new Set([from, to, ...transfers.flatMap(transfer => [transfer.from, transfer.to])])
      for (const party of parties) {
        if (party && party !== address) counts.set(party, (counts.get(party) ?? 0) + 1)
      }
    }
  }
  return counts
}
