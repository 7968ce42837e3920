import { expect, it } from 'vitest'
import { createSecretHider } from './createSecretHider.ts'

const url =
  'https://us%20er:pa%2Fss@node.example/v2/key-in-the-path?apikey=key%20in%20query&mode=full#fragment-key'

it.each([
  ['bad key key-in-the-path', 'bad key [removed]'],
  ['/v2/key-in-the-path?apikey=key%20in%20query', '/v2/[removed]?apikey=[removed]'],
  ['key in query and fragment-key', '[removed] and [removed]'],
  ['us er and pa/ss, us%20er:pa%2Fss', '[removed] and [removed], [removed]:[removed]'],
  [`Basic ${Buffer.from('us er:pa/ss').toString('base64')}`, 'Basic [removed]='],
  ['v2 of node.example in full mode', 'v2 of node.example in full mode']
])('hides what may be a key of the URL: %s', (text, expected) => {
  expect(createSecretHider(url)(text)).toBe(expected)
})

it('hides nothing where a URL has no key, or is none', () => {
  expect(createSecretHider('http://localhost:8545/')('http://localhost:8545/ failed')).toBe(
    'http://localhost:8545/ failed'
  )
  expect(createSecretHider('no url')('no url')).toBe('no url')
})

it('hides the values of headers, with and without their scheme', () => {
  const hide = createSecretHider('https://node.example', ['Bearer short', 'k3y'])
  expect(hide('got Bearer short, short and k3y')).toBe('got [removed], [removed] and [removed]')
})
