/*
 * Keccak-f[1600], for hashes of one short block: blooms and checksummed addresses need one for each of many thousand new
 * values, and the library's function for any length and form takes several times as long.
 */

const words = 50

/** The state of one hash: 25 lanes of 64 bits, each two words, the lower one first. */
export const createKeccakState = (): Int32Array => new Int32Array(words)

/** Constants of the step iota, lower and upper word of each round in turn. */
const constants = Int32Array.from(
  [
    '0000000000000001 0000000000008082 800000000000808a 8000000080008000 000000000000808b 0000000080000001',
    '8000000080008081 8000000000008009 000000000000008a 0000000000000088 0000000080008009 000000008000000a',
    '000000008000808b 800000000000008b 8000000000008089 8000000000008003 8000000000008002 8000000000000080',
    '000000000000800a 800000008000000a 8000000080008081 8000000000008080 0000000080000001 8000000080008008'
  ]
    .flatMap(line => line.split(' '))
    .flatMap(lane => [Number.parseInt(lane.slice(8), 16) | 0, Number.parseInt(lane.slice(0, 8), 16) | 0])
)

/**
 * All 24 rounds, in place. Written out, with every word in a variable of its own: over arrays it takes more than twice as
 * long. `a` is the state, lower case for the lower word of a lane, upper case for the upper one.
 * @see https://keccak.team/files/Keccak-reference-3.0.pdf
 */
export function permuteKeccak(state: Int32Array): void {
  let a0 = state[0] ?? 0
  let A0 = state[1] ?? 0
  let a1 = state[2] ?? 0
  let A1 = state[3] ?? 0
  let a2 = state[4] ?? 0
  let A2 = state[5] ?? 0
  let a3 = state[6] ?? 0
  let A3 = state[7] ?? 0
  let a4 = state[8] ?? 0
  let A4 = state[9] ?? 0
  let a5 = state[10] ?? 0
  let A5 = state[11] ?? 0
  let a6 = state[12] ?? 0
  let A6 = state[13] ?? 0
  let a7 = state[14] ?? 0
  let A7 = state[15] ?? 0
  let a8 = state[16] ?? 0
  let A8 = state[17] ?? 0
  let a9 = state[18] ?? 0
  let A9 = state[19] ?? 0
  let a10 = state[20] ?? 0
  let A10 = state[21] ?? 0
  let a11 = state[22] ?? 0
  let A11 = state[23] ?? 0
  let a12 = state[24] ?? 0
  let A12 = state[25] ?? 0
  let a13 = state[26] ?? 0
  let A13 = state[27] ?? 0
  let a14 = state[28] ?? 0
  let A14 = state[29] ?? 0
  let a15 = state[30] ?? 0
  let A15 = state[31] ?? 0
  let a16 = state[32] ?? 0
  let A16 = state[33] ?? 0
  let a17 = state[34] ?? 0
  let A17 = state[35] ?? 0
  let a18 = state[36] ?? 0
  let A18 = state[37] ?? 0
  let a19 = state[38] ?? 0
  let A19 = state[39] ?? 0
  let a20 = state[40] ?? 0
  let A20 = state[41] ?? 0
  let a21 = state[42] ?? 0
  let A21 = state[43] ?? 0
  let a22 = state[44] ?? 0
  let A22 = state[45] ?? 0
  let a23 = state[46] ?? 0
  let A23 = state[47] ?? 0
  let a24 = state[48] ?? 0
  let A24 = state[49] ?? 0
  for (let round = 0; round < constants.length; round += 2) {
    // theta: c is the parity of each column, d what it does to the lanes of the next one
    const c0 = a0 ^ a5 ^ a10 ^ a15 ^ a20
    const C0 = A0 ^ A5 ^ A10 ^ A15 ^ A20
    const c1 = a1 ^ a6 ^ a11 ^ a16 ^ a21
    const C1 = A1 ^ A6 ^ A11 ^ A16 ^ A21
    const c2 = a2 ^ a7 ^ a12 ^ a17 ^ a22
    const C2 = A2 ^ A7 ^ A12 ^ A17 ^ A22
    const c3 = a3 ^ a8 ^ a13 ^ a18 ^ a23
    const C3 = A3 ^ A8 ^ A13 ^ A18 ^ A23
    const c4 = a4 ^ a9 ^ a14 ^ a19 ^ a24
    const C4 = A4 ^ A9 ^ A14 ^ A19 ^ A24
    const d0 = c4 ^ ((c1 << 1) | (C1 >>> 31))
    const D0 = C4 ^ ((C1 << 1) | (c1 >>> 31))
    const d1 = c0 ^ ((c2 << 1) | (C2 >>> 31))
    const D1 = C0 ^ ((C2 << 1) | (c2 >>> 31))
    const d2 = c1 ^ ((c3 << 1) | (C3 >>> 31))
    const D2 = C1 ^ ((C3 << 1) | (c3 >>> 31))
    const d3 = c2 ^ ((c4 << 1) | (C4 >>> 31))
    const D3 = C2 ^ ((C4 << 1) | (c4 >>> 31))
    const d4 = c3 ^ ((c0 << 1) | (C0 >>> 31))
    const D4 = C3 ^ ((C0 << 1) | (c0 >>> 31))
    // theta put into t; rho turns each lane, pi moves it, into b
    const t0 = a0 ^ d0
    const T0 = A0 ^ D0
    const b0 = t0
    const B0 = T0
    const t5 = a5 ^ d0
    const T5 = A5 ^ D0
    const b16 = (T5 << 4) | (t5 >>> 28)
    const B16 = (t5 << 4) | (T5 >>> 28)
    const t10 = a10 ^ d0
    const T10 = A10 ^ D0
    const b7 = (t10 << 3) | (T10 >>> 29)
    const B7 = (T10 << 3) | (t10 >>> 29)
    const t15 = a15 ^ d0
    const T15 = A15 ^ D0
    const b23 = (T15 << 9) | (t15 >>> 23)
    const B23 = (t15 << 9) | (T15 >>> 23)
    const t20 = a20 ^ d0
    const T20 = A20 ^ D0
    const b14 = (t20 << 18) | (T20 >>> 14)
    const B14 = (T20 << 18) | (t20 >>> 14)
    const t1 = a1 ^ d1
    const T1 = A1 ^ D1
    const b10 = (t1 << 1) | (T1 >>> 31)
    const B10 = (T1 << 1) | (t1 >>> 31)
    const t6 = a6 ^ d1
    const T6 = A6 ^ D1
    const b1 = (T6 << 12) | (t6 >>> 20)
    const B1 = (t6 << 12) | (T6 >>> 20)
    const t11 = a11 ^ d1
    const T11 = A11 ^ D1
    const b17 = (t11 << 10) | (T11 >>> 22)
    const B17 = (T11 << 10) | (t11 >>> 22)
    const t16 = a16 ^ d1
    const T16 = A16 ^ D1
    const b8 = (T16 << 13) | (t16 >>> 19)
    const B8 = (t16 << 13) | (T16 >>> 19)
    const t21 = a21 ^ d1
    const T21 = A21 ^ D1
    const b24 = (t21 << 2) | (T21 >>> 30)
    const B24 = (T21 << 2) | (t21 >>> 30)
    const t2 = a2 ^ d2
    const T2 = A2 ^ D2
    const b20 = (T2 << 30) | (t2 >>> 2)
    const B20 = (t2 << 30) | (T2 >>> 2)
    const t7 = a7 ^ d2
    const T7 = A7 ^ D2
    const b11 = (t7 << 6) | (T7 >>> 26)
    const B11 = (T7 << 6) | (t7 >>> 26)
    const t12 = a12 ^ d2
    const T12 = A12 ^ D2
    const b2 = (T12 << 11) | (t12 >>> 21)
    const B2 = (t12 << 11) | (T12 >>> 21)
    const t17 = a17 ^ d2
    const T17 = A17 ^ D2
    const b18 = (t17 << 15) | (T17 >>> 17)
    const B18 = (T17 << 15) | (t17 >>> 17)
    const t22 = a22 ^ d2
    const T22 = A22 ^ D2
    const b9 = (T22 << 29) | (t22 >>> 3)
    const B9 = (t22 << 29) | (T22 >>> 3)
    const t3 = a3 ^ d3
    const T3 = A3 ^ D3
    const b5 = (t3 << 28) | (T3 >>> 4)
    const B5 = (T3 << 28) | (t3 >>> 4)
    const t8 = a8 ^ d3
    const T8 = A8 ^ D3
    const b21 = (T8 << 23) | (t8 >>> 9)
    const B21 = (t8 << 23) | (T8 >>> 9)
    const t13 = a13 ^ d3
    const T13 = A13 ^ D3
    const b12 = (t13 << 25) | (T13 >>> 7)
    const B12 = (T13 << 25) | (t13 >>> 7)
    const t18 = a18 ^ d3
    const T18 = A18 ^ D3
    const b3 = (t18 << 21) | (T18 >>> 11)
    const B3 = (T18 << 21) | (t18 >>> 11)
    const t23 = a23 ^ d3
    const T23 = A23 ^ D3
    const b19 = (T23 << 24) | (t23 >>> 8)
    const B19 = (t23 << 24) | (T23 >>> 8)
    const t4 = a4 ^ d4
    const T4 = A4 ^ D4
    const b15 = (t4 << 27) | (T4 >>> 5)
    const B15 = (T4 << 27) | (t4 >>> 5)
    const t9 = a9 ^ d4
    const T9 = A9 ^ D4
    const b6 = (t9 << 20) | (T9 >>> 12)
    const B6 = (T9 << 20) | (t9 >>> 12)
    const t14 = a14 ^ d4
    const T14 = A14 ^ D4
    const b22 = (T14 << 7) | (t14 >>> 25)
    const B22 = (t14 << 7) | (T14 >>> 25)
    const t19 = a19 ^ d4
    const T19 = A19 ^ D4
    const b13 = (t19 << 8) | (T19 >>> 24)
    const B13 = (T19 << 8) | (t19 >>> 24)
    const t24 = a24 ^ d4
    const T24 = A24 ^ D4
    const b4 = (t24 << 14) | (T24 >>> 18)
    const B4 = (T24 << 14) | (t24 >>> 18)
    // chi, and iota in the first lane
    a0 = b0 ^ (~b1 & b2) ^ (constants[round] ?? 0)
    A0 = B0 ^ (~B1 & B2) ^ (constants[round + 1] ?? 0)
    a1 = b1 ^ (~b2 & b3)
    A1 = B1 ^ (~B2 & B3)
    a2 = b2 ^ (~b3 & b4)
    A2 = B2 ^ (~B3 & B4)
    a3 = b3 ^ (~b4 & b0)
    A3 = B3 ^ (~B4 & B0)
    a4 = b4 ^ (~b0 & b1)
    A4 = B4 ^ (~B0 & B1)
    a5 = b5 ^ (~b6 & b7)
    A5 = B5 ^ (~B6 & B7)
    a6 = b6 ^ (~b7 & b8)
    A6 = B6 ^ (~B7 & B8)
    a7 = b7 ^ (~b8 & b9)
    A7 = B7 ^ (~B8 & B9)
    a8 = b8 ^ (~b9 & b5)
    A8 = B8 ^ (~B9 & B5)
    a9 = b9 ^ (~b5 & b6)
    A9 = B9 ^ (~B5 & B6)
    a10 = b10 ^ (~b11 & b12)
    A10 = B10 ^ (~B11 & B12)
    a11 = b11 ^ (~b12 & b13)
    A11 = B11 ^ (~B12 & B13)
    a12 = b12 ^ (~b13 & b14)
    A12 = B12 ^ (~B13 & B14)
    a13 = b13 ^ (~b14 & b10)
    A13 = B13 ^ (~B14 & B10)
    a14 = b14 ^ (~b10 & b11)
    A14 = B14 ^ (~B10 & B11)
    a15 = b15 ^ (~b16 & b17)
    A15 = B15 ^ (~B16 & B17)
    a16 = b16 ^ (~b17 & b18)
    A16 = B16 ^ (~B17 & B18)
    a17 = b17 ^ (~b18 & b19)
    A17 = B17 ^ (~B18 & B19)
    a18 = b18 ^ (~b19 & b15)
    A18 = B18 ^ (~B19 & B15)
    a19 = b19 ^ (~b15 & b16)
    A19 = B19 ^ (~B15 & B16)
    a20 = b20 ^ (~b21 & b22)
    A20 = B20 ^ (~B21 & B22)
    a21 = b21 ^ (~b22 & b23)
    A21 = B21 ^ (~B22 & B23)
    a22 = b22 ^ (~b23 & b24)
    A22 = B22 ^ (~B23 & B24)
    a23 = b23 ^ (~b24 & b20)
    A23 = B23 ^ (~B24 & B20)
    a24 = b24 ^ (~b20 & b21)
    A24 = B24 ^ (~B20 & B21)
  }
  state[0] = a0
  state[1] = A0
  state[2] = a1
  state[3] = A1
  state[4] = a2
  state[5] = A2
  state[6] = a3
  state[7] = A3
  state[8] = a4
  state[9] = A4
  state[10] = a5
  state[11] = A5
  state[12] = a6
  state[13] = A6
  state[14] = a7
  state[15] = A7
  state[16] = a8
  state[17] = A8
  state[18] = a9
  state[19] = A9
  state[20] = a10
  state[21] = A10
  state[22] = a11
  state[23] = A11
  state[24] = a12
  state[25] = A12
  state[26] = a13
  state[27] = A13
  state[28] = a14
  state[29] = A14
  state[30] = a15
  state[31] = A15
  state[32] = a16
  state[33] = A16
  state[34] = a17
  state[35] = A17
  state[36] = a18
  state[37] = A18
  state[38] = a19
  state[39] = A19
  state[40] = a20
  state[41] = A20
  state[42] = a21
  state[43] = A21
  state[44] = a22
  state[45] = A22
  state[46] = a23
  state[47] = A23
  state[48] = a24
  state[49] = A24
}
