import { describe, expect, it } from 'vitest'
import { arrival, runGuard } from '../../../test/http/runGuard.ts'
import { createKeyRing } from '../projects/createKeyRing.ts'
import { digestKey, formatKeyDigest } from '../projects/keyDigest.ts'
import { checkLogin } from './login.ts'

const origins = ['https://dapp.example']
const keyRing = createKeyRing([
  { projectId: 'demo', serverKey: 'demo-server-key', clientKeys: [{ key: 'client', origins }] },
  { projectId: 'grüße', serverKey: 'schlüssel:with:colons', clientKeys: [] },
  { projectId: 'digested', serverKey: formatKeyDigest(digestKey('kept as digest')), clientKeys: [] }
])
const guard = checkLogin({ keyRing })
const authenticate = async (authorization: string | undefined) => {
  const call = { ...arrival({ authorization, origin: origins[0] }), address: undefined }
  return (await runGuard(guard, call)).found?.caller
}
const server = (projectId: string) => ({ projectId, kind: 'server' })
const client = { projectId: 'demo', kind: 'client', origins }

function basic(text: string | Uint8Array): string {
  return `Basic ${Buffer.from(text as string).toString('base64')}`
}

describe('a caller', () => {
  it.each([
    ['the server key', basic('demo:demo-server-key'), server('demo')],
    ['a client key', basic('demo:client'), client],
    ['UTF-8 and colons', basic('grüße:schlüssel:with:colons'), server('grüße')],
    ['a key configured as digest', basic('digested:kept as digest'), server('digested')],
    ['the scheme in another case', basic('demo:client').replace('Basic', 'bAsIc'), client]
  ])('is recognised by %s', async (_what, authorization, caller) => {
    expect(await authenticate(authorization)).toEqual(caller)
  })

  const good = basic('demo:demo-server-key')
  it.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['another scheme', good.replace('Basic', 'Bearer')],
    ['a wrong key', basic('demo:demo-server-kez')],
    ['a key cut short', basic('demo:demo-server-ke')],
    ['a key with a NUL appended', basic('demo:demo-server-key\0')],
    ['a key with a space appended', basic('demo:demo-server-key ')],
    ['a key behind a byte order mark', basic('demo:\uFEFFdemo-server-key')],
    ['an empty key', basic('demo:')],
    ['no colon', basic('demo')],
    ['an unknown project', basic('nobody:demo-server-key')],
    ['the key of another project', basic('digested:demo-server-key')],
    ['the project of nobody', basic(':demo-server-key')],
    ['a property name', basic('__proto__:x')],
    ['the digest itself', basic(`digested:${formatKeyDigest(digestKey('kept as digest'))}`)],
    ['the header sent twice', `${good}, ${good}`],
    ['text after it', `${good} x`],
    ['no padding', good.replace(/=+$/, '')],
    ['characters that are no base64', `${good.slice(0, -2)}*=`],
    ['bytes that are no UTF-8', `Basic ${Buffer.from([0x64, 0x3a, 0xff]).toString('base64')}`]
  ])('is not recognised by %s', async (what, authorization) => {
    if (what === 'no padding') expect(authorization).not.toBe(good)
    await expect(authenticate(authorization)).rejects.toMatchObject({ reason: 'UNAUTHENTICATED' })
  })

  it('is told to send credentials where none came, and to check them where they are wrong', async () => {
    const hints = [undefined, 'Bearer x', basic('demo:wrong'), basic('nobody:demo-server-key')]
    const messages = await Promise.all(
      hints.map(header => authenticate(header).catch((refusal: Error) => refusal.message))
    )
    expect(messages.map(message => String(message).split(' ')[0])).toEqual(['Send', 'Send', 'No', 'No'])
    // What exists is not told apart.
    expect(messages[3]).toBe(messages[2])
  })
})
