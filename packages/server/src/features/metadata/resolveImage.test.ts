import { expect, test } from 'vitest'
import { readAllowHosts } from './checkUrl.ts'
import { imageOf } from './resolveImage.ts'

const cid = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG'
const options = {
  gateways: {
    ipfs: ['https://one.gateway.art', 'https://two.gateway.art'],
    arweave: ['https://ar.gateway.art']
  },
  allowHosts: readAllowHosts(['127.0.0.1:4100'])
}
const svg = '<svg xmlns="http://www.w3.org/2000/svg"></svg>'
const svgUri = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`

test.each([
  [{ image: 'https://a.names.art/1.png' }, 'https://a.names.art/1.png'],
  [{ image: `ipfs://${cid}/1.png` }, `https://one.gateway.art/ipfs/${cid}/1.png`],
  [
    { image: 'ar://bNbA3TEQVL60xlgCcqdz4ZPHFZ711cZ3hmkpGttDt_U' },
    'https://ar.gateway.art/bNbA3TEQVL60xlgCcqdz4ZPHFZ711cZ3hmkpGttDt_U'
  ],
  [{ image: `ipns://docs.names.art/1.png` }, 'https://one.gateway.art/ipns/docs.names.art/1.png'],
  [{ image: `http://dead.gateway.art/ipfs/${cid}/1.png` }, `https://one.gateway.art/ipfs/${cid}/1.png`],
  [{ image: 'data:image/png;base64,AA==' }, 'data:image/png;base64,AA=='],
  [{ image: svg }, svgUri],
  [{ image_data: svg }, svgUri],
  [{ image: null, image_url: 'https://a.names.art/2.png' }, 'https://a.names.art/2.png'],
  [
    { image: 'https://a.names.art/1.png', image_url: 'https://a.names.art/2.png' },
    'https://a.names.art/1.png'
  ],
  [{ imageUrl: 'https://a.names.art/3.png' }, 'https://a.names.art/3.png'],
  [{ image: { url: 'https://a.names.art/4.png' } }, 'https://a.names.art/4.png'],
  [{ image: { uri: `ipfs://${cid}/4.png` } }, `https://one.gateway.art/ipfs/${cid}/4.png`],
  [{ image: { url: 1, uri: '' }, imageUrl: 'https://a.names.art/3.png' }, 'https://a.names.art/3.png'],
  [{ image: 'http://127.0.0.1:4100/1.png' }, 'http://127.0.0.1:4100/1.png']
])('%j has a picture', (data, expected) => {
  expect(imageOf(data, options)).toBe(expected)
})

test.each([
  {},
  { image: 1 },
  { image: {} },
  { image: '' },
  { image: 'http://a.names.art/1.png' },
  { image: 'https://127.0.0.1/1.png' },
  { image: 'https://localhost/1.png' },
  { image: 'http://127.0.0.1:4101/1.png' },
  { image: 'https://user:pw@a.names.art/1.png' },
  { image: 'javascript:alert(1)' },
  { image: 'data:text/html,<script>' },
  { image: 'data:application/json,{}' },
  { image: '{"a":1}' }
])('%j has none', data => {
  expect(imageOf(data, options)).toBe('')
})

test("an inherited key is not the object's own", () => {
  expect(imageOf(Object.create({ image: 'https://a.names.art/1.png' }), options)).toBe('')
})

test('{id} in the picture of an ERC-1155 token is replaced', () => {
  expect(imageOf({ image: 'https://a.names.art/{id}.png' }, { ...options, tokenId: 255n })).toBe(
    `https://a.names.art/${'ff'.padStart(64, '0')}.png`
  )
})
