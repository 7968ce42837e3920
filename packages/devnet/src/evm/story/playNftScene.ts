import { putImage, putJson, svgImage } from '../../metadata/MetadataHost.ts'
import type { EvmMetadataDocument } from '../EvmWorld.ts'
import { createContract } from '../evmIntents.ts'
import { evmContract } from '../evmTruth.ts'
import type { Stage } from './Stage.ts'

const cid = 'bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi'

/** An ERC-721 collection: minted, moved on, burnt, and with every kind of metadata URI. */
export async function playNftScene({ driver, calls, metadata }: Stage): Promise<void> {
  await driver.send({
    ...{ label: 'creation of the collection', from: 'deployer' },
    ...createContract('DevNft', ['Devnet Art', 'ART'], {
      ...{ label: 'art', kind: 'erc721', name: 'Devnet Art', symbol: 'ART' }
    })
  })
  await driver.mine()
  const art = evmContract(driver.world, 'art')
  const uris = publishArt({ metadata, documents: driver.world.documents })
  const mints: [string, string, bigint, string][] = [
    ['art 1', 'alice', 1n, uris.http],
    ['art 2', 'alice', 2n, uris.json],
    ['art 3', 'alice', 3n, uris.missing],
    ['art 4', 'bob', 4n, uris.malformed],
    ['art 5', 'bob', 5n, uris.plain],
    ['art 6', 'carol', 6n, uris.ipfs],
    ['art 7', 'carol', 7n, uris.http],
    ['art 8', 'frank', 2n ** 255n + 7n, uris.http],
    ['art 9', 'alice', 9n, '']
  ]
  for (const [label, to, tokenId, uri] of mints) {
    await driver.send({ label: `mint of ${label}`, ...calls.erc721Mint('deployer', art, to, tokenId, uri) })
    if (tokenId % 2n === 0n) await driver.mine()
  }
  await driver.mine()
  await driver.send({ label: 'art 1 moves on', ...calls.erc721Transfer('alice', art, 'bob', 1n) })
  await driver.mine()
  await driver.send({ label: 'art 1 comes back', ...calls.erc721Transfer('bob', art, 'alice', 1n) })
  await driver.send({ label: 'art 5 moves on', ...calls.erc721Transfer('bob', art, 'frank', 5n) })
  await driver.mine()
  await driver.send({ label: 'art 7 is burnt', ...calls.erc721Burn('carol', art, 7n) })
  await driver.mine()
}

interface Publishing {
  metadata: Stage['metadata']
  documents: Map<string, EvmMetadataDocument>
}

function publishArt({ metadata, documents }: Publishing) {
  const image = putImage(metadata, '/evm/art/1.svg', 'art 1')
  const known = (uri: string, document: EvmMetadataDocument) => {
    documents.set(uri, document)
    return uri
  }
  const described = {
    ...{ name: 'Sunrise #1', description: 'Served over HTTP.', image, edition: 1 },
    attributes: [{ trait_type: 'Colour', value: 'orange' }],
    nothing: null
  }
  const inline = { name: 'Inline', image: `data:image/svg+xml;base64,${btoa(svgImage('inline'))}` }
  const plain = { name: 'Plain & simple', description: 'Percent-encoded.' }
  const pinned = { name: 'Pinned', image: `ipfs://${cid}/6.svg` }
  putImage(metadata, `/ipfs/${cid}/6.svg`, 'art 6')
  putJson(metadata, `/ipfs/${cid}/6.json`, pinned)
  return {
    http: known(putJson(metadata, '/evm/art/1.json', described), { via: 'http', json: described }),
    json: known(`data:application/json;base64,${btoa(JSON.stringify(inline))}`, {
      via: 'data',
      json: inline
    }),
    plain: known(`data:application/json,${encodeURIComponent(JSON.stringify(plain))}`, {
      via: 'data',
      json: plain
    }),
    ipfs: known(`ipfs://${cid}/6.json`, { via: 'ipfs', json: pinned }),
    malformed: known(
      metadata.put('/evm/art/4.json', { status: 200, contentType: 'text/html', body: '<h1>Not JSON</h1>' }),
      { via: 'http' }
    ),
    missing: `${metadata.url}/evm/art/3.json`
  }
}
