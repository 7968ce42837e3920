import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { nextStepFor, withoutNextStep } from './nextSteps.ts'
import { UpstreamError } from './upstreamError.ts'

const unreachable = (systemCode: string) => new UpstreamError('upstream 1', 'unreachable', { systemCode })
const refused = (httpStatus: number) => new UpstreamError('upstream 1', 'refused', { httpStatus })

it.each([
  ['ENOTFOUND', unreachable('ENOTFOUND'), /name of its host is not known: check the spelling/],
  [
    'ECONNREFUSED',
    unreachable('ECONNREFUSED'),
    /^check that it runs, and the port of the URL: nothing listens/
  ],
  ['ETIMEDOUT', unreachable('ETIMEDOUT'), /nothing answers at that address: check host and port/],
  ['EPROTO', unreachable('EPROTO'), /no TLS at that port: write http:/],
  ['an expired certificate', unreachable('CERT_HAS_EXPIRED'), /certificate is not accepted: renew it/],
  ['a self-signed one', unreachable('DEPTH_ZERO_SELF_SIGNED_CERT'), /NODE_EXTRA_CA_CERTS/],
  ['an unknown authority', unreachable('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'), /NODE_EXTRA_CA_CERTS/],
  ['another host name', unreachable('ERR_TLS_CERT_ALTNAME_INVALID'), /the host name that it is for/],
  ['any other code', unreachable('EPIPE'), /host and port can be reached from here/],
  ['HTTP 401', refused(401), /check the key or the credentials/],
  ['HTTP 403', refused(403), /this key, or the address of this machine, is not allowed/],
  ['HTTP 404', refused(404), /nothing at the path of the URL/],
  [
    'HTTP 429',
    new UpstreamError('x', 'throttled', { httpStatus: 429 }),
    /wait, raise the limit there, or set/
  ]
])('%s has a next step of its own, which callers are not shown', (_, error, step) => {
  const text = nextStepFor(error) ?? ''
  expect(text).toMatch(step)
  expect(withoutNextStep(`block 7: upstream 1 fails; ${text}`)).toBe('block 7: upstream 1 fails')
})

it('the page for troubles has a row for each of them', () => {
  const page = new URL('../../../../../docs/troubleshooting.md', import.meta.url)
  const [, rows = ''] = readFileSync(page, 'utf8').split('## A chain does not follow its node')
  const codes = rows.split('## ')[0]?.match(/\bE[A-Z]{4,}\b/g) ?? []
  expect(codes).toEqual(['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EPROTO'])
  const usual = nextStepFor(unreachable('EPIPE'))
  for (const code of codes) expect(nextStepFor(unreachable(code))).not.toBe(usual)
})
