import { expect, it } from 'vitest'
import { createPageHosts } from './pageHosts.ts'

const asked = ['localhost', '127.1.2.3', '::1', '10.0.0.5', '2001:db8::5', 'Box.Internal', 'evil.example']

it.each([
  ['127.0.0.1', [], ['localhost', '127.1.2.3', '::1']],
  ['10.0.0.5', [], ['localhost', '127.1.2.3', '::1', '10.0.0.5']],
  ['box.internal', [], ['localhost', '127.1.2.3', '::1', 'Box.Internal']],
  ['127.0.0.1', ['BOX.internal'], ['localhost', '127.1.2.3', '::1', 'Box.Internal']],
  ['0.0.0.0', [], ['localhost', '127.1.2.3', '::1', '10.0.0.5', '2001:db8::5']],
  ['::', [], ['localhost', '127.1.2.3', '::1', '10.0.0.5', '2001:db8::5']]
])('pages that listen on %s and are configured for %j answer to %j', (listenHost, configured, expected) => {
  expect(asked.filter(createPageHosts(listenHost, configured))).toEqual(expected)
})
