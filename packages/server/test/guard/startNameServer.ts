import { createSocket } from 'node:dgram'

/** One record of an answer: an address, or `-> name` for an alias. */
export type NameRecord = string

export interface NameServer {
  /** `address:port` */
  readonly address: string
  /** Every question, as `name type`, in order. */
  readonly asked: readonly string[]
  close(): Promise<void>
}

const types = { A: 1, CNAME: 5, AAAA: 28 } as const

/**
 * A name server on loopback.
 * @param answer - the records for a name; `undefined`: no answer at all. Addresses of the other family are left out.
 */
export async function startNameServer(
  answer: (name: string, type: 'A' | 'AAAA') => readonly NameRecord[] | undefined
): Promise<NameServer> {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, end } = readName(query, 12)
    const type = query.readUInt16BE(end) === types.AAAA ? 'AAAA' : 'A'
    asked.push(`${name} ${type}`)
    const records = answer(name, type)
    if (records === undefined) return
    let owner = name
    const encoded = records.flatMap(record => {
      if (record.startsWith('-> ')) {
        const alias = encode(owner, types.CNAME, writeName(record.slice(3)))
        owner = record.slice(3)
        return [alias]
      }
      if (record.includes(':') !== (type === 'AAAA')) return []
      return [encode(owner, types[type], type === 'A' ? writeV4(record) : writeV6(record))]
    })
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(0x8180, 2)
    head.writeUInt16BE(encoded.length, 6)
    head.writeUInt32BE(0, 8)
    socket.send(Buffer.concat([head, query.subarray(12, end + 4), ...encoded]), from.port, from.address)
  })
  await new Promise<void>(resolve => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise(resolve => socket.close(() => resolve()))
  }
}

function readName(message: Buffer, start: number): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = start
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

function writeName(name: string): Buffer {
  const labels = name.split('.').map(label => Buffer.from([label.length, ...Buffer.from(label, 'latin1')]))
  return Buffer.concat([...labels, Buffer.from([0])])
}

function encode(owner: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([writeName(owner), fixed, data])
}

const writeV4 = (address: string) => Buffer.from(address.split('.').map(Number))

/** Eight groups written out. */
const writeV6 = (address: string) =>
  Buffer.from(
    address
      .split(':')
      .map(group => group.padStart(4, '0'))
      .join(''),
    'hex'
  )
