export { describeBlocks } from './blocks.contract.ts'
export { describeLifetime } from './lifetime.contract.ts'
export { describeReport } from './report.contract.ts'
export { type OpenStore, testIdentity } from './store.contract.ts'
