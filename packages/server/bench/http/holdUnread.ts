/** Callers that never read, a process of its own: an `UnreadOrder` opens them, the message `release` ends them. */
import { connect, type Socket } from 'node:net'
import { authorization, type UnreadOrder } from './messages.ts'

const sockets: Socket[] = []
process.on('message', message => {
  if (message === 'release') {
    for (const socket of sockets.splice(0)) socket.destroy()
    process.send?.('released')
    return
  }
  const { url, body, connections } = message as UnreadOrder
  const { hostname, port, host } = new URL(url)
  const request = `POST /evm-chain HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  for (let i = 0; i < connections; i++) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.pause()
    socket.write(request)
    sockets.push(socket)
  }
  process.send?.('open')
})
process.once('disconnect', () => process.exit(0))
