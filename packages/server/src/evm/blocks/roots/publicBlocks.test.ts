import { describe, expect, it } from 'vitest'
import { toHex } from '../../../index/record/hexBytes.ts'
import type { RawObject } from '../../../nodes/evm/rawFields.ts'
import { keccak256 } from '../../../platform/keccak256.ts'
import type { VerifiedHeader } from '../verification/verifiedBlock.ts'
import { encodeTransaction } from './encodeTransaction.ts'
import { verifyBlockHash } from './verifyBlockHash.ts'

/* Headers and transactions of public rollups with the hashes that their chains gave them. */

const noUncles = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347'

const headers: Readonly<Record<string, RawObject>> = {
  'Base 51,579,258, with all fields of its forks until 2026': {
    hash: '0x0366446fd6fca93d511f0dd1700076670f0608a1dc73e6be2bd1329f217f611d',
    ...{ baseFeePerGas: '0x4c4b40', blobGasUsed: '0x414da4', difficulty: '0x0', excessBlobGas: '0x0' },
    ...{ gasLimit: '0x17d78400', gasUsed: '0x1b3af88', nonce: '0x0000000000000000', number: '0x313097a' },
    ...{ extraData: '0x01000000640000000500000000004c4b40', timestamp: '0x6ab06fd7', sha3Uncles: noUncles },
    logsBloom: [
      '0x3767e7c0555c5c39d036fba987099da2f97fa403c1cc4041868490c528a420654d69c1fa7554a3b7270fea9fb0c37704467ccd049ccc7d28',
      '86f247a7f0bc53989671b25922d42d9a9f14de5c016323ff4ad77656324d9bf93b7f51bb977ffe9527e0c0eb9acf55e027941a098c43e94853',
      '835922096e96d0aac0cdb712cb22cb6e267f0bada05a384e4a1204e41621995a799e712836d808780ee8f605f4947c8255fd02d2bc1acc52d1',
      'c338df868d827fb5ccc390f8418d8bef536bf2b440de6605b66a487baf699a4138c40620b0934cedd014962c6aba75e104d38298f3e44914be',
      'f9a595a5e83052463e58873fe2a5c7f431dde67556ff3ca168e013ae44'
    ].join(''),
    miner: '0x4200000000000000000000000000000000000011',
    mixHash: '0x251dd54690d69f2741322fe28f10133317d095d69e3dbd5ff84386a368ef8964',
    parentBeaconBlockRoot: '0x6d89e2de5ee74c61fa0806f12c2ffed16617506bd50c034307c7b06dc89466b1',
    parentHash: '0x636915284db0895f968509e159876a6357dbcbe7d29b3f9ca7a5610d75f5d07d',
    receiptsRoot: '0xea8053afc5432c7514086ef1b890a4a0b3422d32554f691460a23f1f0936b605',
    requestsHash: '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    stateRoot: '0x724969bbd88a99f0a3adafced023891765090f0c6ca624c835d3551007588f6c',
    transactionsRoot: '0xc70cee7e4ea56c8f35fa46eeaedecdac140e1373cb31978d64d74ef067b09895',
    withdrawalsRoot: '0xbb9ac105fe768705b1afe90537fd37526369418eb612657c8eb775b8fd1f2c30'
  },
  'Arbitrum One 350,791,066, whose own fields are no part of its header': {
    hash: '0x095e8f52e77f0add52fc6cf2f3f04ceb72462dbf54bab11544e7227415aeabd5',
    ...{ baseFeePerGas: '0x989680', difficulty: '0x1', gasLimit: '0x4000000000000', gasUsed: '0x93349' },
    ...{ nonce: '0x00000000001ed08c', number: '0x14e8a59a', timestamp: '0x685aeaf0', sha3Uncles: noUncles },
    ...{ l1BlockNumber: '0x15b88c4', sendCount: '0x23fb9' },
    sendRoot: '0xc55914e90e13cba05a84efc4b7f1e7c44897f9437ed4fbac55ae8d602d4d3240',
    extraData: '0xc55914e90e13cba05a84efc4b7f1e7c44897f9437ed4fbac55ae8d602d4d3240',
    logsBloom: [
      '0x00000000000000000000000000000000000000008008000000080000001000000000000000000008000000000000000000004000000020000000',
      '040000208000080010010200000800000008000100000000000000040000000000000000000000004000000000000000000400000000000010000000',
      '400000400010000800000000000000000000000c00000000000000000000000000000000080000000000022000000000000000000000000c00000000',
      '102040000000000008000000000000008002000000000000000200000000008000000400000000000000000000008010000000000000000000000000',
      '000210000000000000000000000000000000'
    ].join(''),
    miner: '0xa4b000000000000000000073657175656e636572',
    mixHash: '0x0000000000023fb900000000015b88c400000000000000280000000000000000',
    parentHash: '0xeea5e5abd449dcc96b06dc7fcf1d11e19b6ed31d1c568f83e21e4e80b6e97db2',
    receiptsRoot: '0xbf6cfdf29ce73f87c2c0b828813e5700a5fa621777bbbae650c8b34cdaa8b15b',
    stateRoot: '0xe8d2484861442a3ef9809818951b22776d6ca444d7e31f99c0c104532be4f690',
    transactionsRoot: '0xec2be67d104f0e1947f0ff32c22c2c0b5fe83d21aa87da153723807d23e32644'
  }
}

const deposit = {
  hash: '0xfef32a4fab45b73e89e64ba640ef261009a157c64617956ab64e831856f928f7',
  ...{ type: '0x7e', gas: '0xf4240', gasPrice: '0x0', nonce: '0x1ba3d8a', value: '0x0', mint: '0x0' },
  from: '0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001',
  to: '0x4200000000000000000000000000000000000015',
  input: [
    '0x440a5e200000146b000f79c5000000000000000300000000',
    '67f3d96300000000015302f100000000000000000000000000',
    '000000000000000000000000000002438e769a000000000000',
    '000000000000000000000000000000000000000000019ac964',
    'ba5f3511f78ffce1555042a48961196583ef9de7ab6384226f',
    'da712273645e02610000000000000000000000006887246668',
    'a3b87f54deb3b94ba47a6f63f32985'
  ].join(''),
  sourceHash: '0x883aa371d61056b40ec30d9b74257103351b24d70eb8063940f19f7510e39799',
  ...{ depositReceiptVersion: '0x1', r: '0x0', s: '0x0', v: '0x0', yParity: '0x0' }
}

const hashOf = (raw: RawObject) =>
  toHex(keccak256(encodeTransaction(raw, 'a transaction')?.bytes ?? new Uint8Array()))

describe('blocks of public rollups', () => {
  it.each(Object.entries(headers))('%s: the hash follows from the header', (_, raw) => {
    const header = (given: RawObject) =>
      ({ ref: { number: Number(raw.number), hash: raw.hash }, raw: given }) as VerifiedHeader
    expect(() => verifyBlockHash(header(raw))).not.toThrow()
    expect(() => verifyBlockHash(header({ ...raw, timestamp: '0x1' }))).toThrow('the hash of its header is')
  })

  it('OP Mainnet 134,217,728: the hash of its deposit follows from its fields', () => {
    expect(hashOf(deposit)).toBe(deposit.hash)
    expect(hashOf({ ...deposit, value: '0x1' })).not.toBe(deposit.hash)
  })
})
