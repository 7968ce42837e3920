import { crc32, deflateSync } from 'node:zlib'

/**
 * A small picture as PNG: a disc low over a ground, in shades of one colour.
 *
 * @param hue - 0 to 359.
 * @param size - Pixels of each side.
 */
export function drawPicture(hue: number, size: number): Uint8Array {
  const rows = Buffer.alloc(size * (1 + size * 3))
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const across = x / size - 0.5
      const down = y / size
      const inDisc = across ** 2 + (down - 0.52) ** 2 < 0.055
      const isGround = down > 0.68 + 0.06 * Math.sin(across * 9 + hue)
      const light = isGround ? 0.3 : inDisc ? 0.94 : 0.62 + 0.22 * down
      const colour = toRgb(inDisc && !isGround ? hue + 30 : hue, isGround ? 0.45 : 0.6, light)
      rows.set(colour, y * (1 + size * 3) + 1 + x * 3)
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size, 0)
  header.writeUInt32BE(size, 4)
  // Eight bits for each of red, green and blue.
  header.set([8, 2], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND')])
}

function chunk(type: string, data = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)])
}

/** From hue, saturation and lightness. @see https://www.w3.org/TR/css-color-4/#hsl-to-rgb */
function toRgb(hue: number, saturation: number, light: number): number[] {
  return [0, 8, 4].map(offset => {
    const k = (offset + hue / 30) % 12
    const swing = saturation * Math.min(light, 1 - light)
    return Math.round(255 * (light - swing * Math.max(-1, Math.min(k - 3, 9 - k, 1))))
  })
}
