import { expect, test } from 'vitest'
import { safeImageUrl } from './safeImageUrl.ts'

const devnet = 'http://127.0.0.1:4000'
const pixel = 'data:image/png;base64,iVBORw0KGgo='

test.each([
  'https://names.art/1.png',
  'https://gateway.example/ipfs/bafy/1.svg',
  `${devnet}/evm/art/1.svg`,
  pixel
])('%s is shown', image => {
  expect(safeImageUrl(image, [devnet])).toBe(image)
})

test.each([
  '',
  'javascript:alert(1)',
  ' javascript:alert(1)',
  'data:image/svg+xml;base64,PHN2Zy8+',
  'data:image/svg+xml,<svg onload=alert(1)>',
  'data:image/png,<svg onload=alert(1)>',
  'data:text/html;base64,PGI+',
  'DATA:image/svg+xml;base64,PHN2Zy8+',
  `${pixel}" onerror="alert(1)`,
  `data:image/png;base64,${'A'.repeat(1_000_001)}`,
  'http://names.art/1.png',
  'http://127.0.0.1:4001/1.png',
  'https://reader:secret@names.art/1.png',
  'ipfs://bafy/1.png',
  'ftp://names.art/1.png',
  'blob:https://names.art/1',
  `blob:${devnet}/1`,
  '//names.art/1.png',
  '/1.png'
])('%s is not', image => {
  expect(safeImageUrl(image, [devnet])).toBeUndefined()
})
