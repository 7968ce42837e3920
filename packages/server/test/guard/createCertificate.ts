import { generateKeyPairSync, sign } from 'node:crypto'

/** Key and certificate of a server, as PEM. */
export interface TestCertificate {
  readonly key: string
  readonly cert: string
}

/**
 * A fresh self-signed certificate for one host name, valid from 2020 to 2049. Node makes keys but no certificates.
 * @see RFC 5280
 */
export function createCertificate(hostname: string): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = sequence(oid('06082a8648ce3d040302'))
  const name = sequence(der(0x31, sequence(oid('0603550403'), der(0x0c, Buffer.from(hostname)))))
  const validity = sequence(utcTime('200101000000Z'), utcTime('491231235959Z'))
  const subjectAltName = sequence(oid('0603551d11'), der(0x04, sequence(der(0x82, Buffer.from(hostname)))))
  const basicConstraints = sequence(oid('0603551d13'), der(0x04, sequence(der(0x01, Buffer.from([0xff])))))
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(subjectAltName, basicConstraints))
  )
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)])
  const certificate = sequence(body, ecdsaWithSha256, der(0x03, signature))
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
  }
}

function der(tag: number, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content)
  const size = body.length
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

const sequence = (...content: Buffer[]) => der(0x30, ...content)
const utcTime = (text: string) => der(0x17, Buffer.from(text))
/** Given as its whole encoding, in hex. */
const oid = (hex: string) => Buffer.from(hex, 'hex')
