import { addressOf } from './startScriptedCluster.ts'
import { type RpcCall, type ScriptedNode, startScriptedNode } from './startScriptedNode.ts'

/**
 * An indexer with the Digital Asset Standard API, in place of the hosted ones: none of them can run here. Its answers
 * have the shape that the API's documents show; what it lists are `entries`, in pages as the API cuts them.
 */
export interface DasServer extends ScriptedNode {
  entries: unknown[]
  /** `cursor`: pages go on from the last id, as where assets are sorted by id. */
  paging: 'page' | 'cursor'
  /** The most it gives out at once, whatever is asked for. */
  longestPage: number
}

interface Query {
  readonly ownerAddress: string
  readonly limit: number
  readonly page?: number
  readonly cursor?: string
}

export async function startDasServer(): Promise<DasServer> {
  const das: DasServer = Object.assign(await startScriptedNode(call => answerPage(das, call)), {
    entries: [],
    paging: 'page' as const,
    longestPage: 1_000
  })
  return das
}

/** One page, as an honest indexer answers it. */
export function answerPage({ entries, paging, longestPage }: DasServer, call: RpcCall) {
  const { limit: asked, page = 1, cursor } = call.params as unknown as Query
  const limit = Math.min(asked, longestPage)
  const start =
    cursor === undefined
      ? (page - 1) * limit
      : 1 + entries.findIndex(entry => (entry as { id: string }).id === cursor)
  const items = entries.slice(start, start + limit)
  const last = items.at(-1) as { id: string } | undefined
  const place = paging === 'page' ? { page } : last === undefined ? {} : { cursor: last.id }
  return dasResult(call, { total: items.length, limit, ...place, items })
}

export function dasResult({ id }: RpcCall, result: unknown) {
  return { body: JSON.stringify({ jsonrpc: '2.0', id, result }) }
}

/** An entry of `getAssetsByOwner` as the API documents it: a compressed NFT unless `more` says otherwise. */
export function dasAsset(owner: string, name: string, more: Record<string, unknown> = {}) {
  return {
    interface: 'V1_NFT',
    id: addressOf(name),
    content: {
      $schema: 'https://schema.metaplex.com/nft1.0.json',
      json_uri: `https://u.test/${name}`,
      files: [{ uri: 'https://u.test/i.png', cdn_uri: 'https://cdn.test/i.png', mime: 'image/png' }],
      metadata: { name, symbol: 'CMP', description: 'd', attributes: [], token_standard: 'NonFungible' },
      links: { image: 'https://u.test/i.png' }
    },
    authorities: [{ address: addressOf('tree authority'), scopes: ['full'] }],
    compression: {
      ...{ eligible: false, compressed: true, data_hash: 'd', creator_hash: 'c', asset_hash: 'a' },
      ...{ tree: addressOf('tree'), seq: 1, leaf_id: 0 }
    },
    grouping: [{ group_key: 'collection', group_value: addressOf('collection') }],
    royalty: {
      ...{ royalty_model: 'creators', target: null, percent: 0.05, basis_points: 500 },
      ...{ primary_sale_happened: true, locked: false }
    },
    creators: [{ address: addressOf('artist'), share: 100, verified: true }],
    ownership: { frozen: false, delegated: false, delegate: null, ownership_model: 'single', owner },
    supply: { print_max_supply: 0, print_current_supply: 0, edition_nonce: null },
    mutable: true,
    burnt: false,
    ...more
  }
}
