export { createHandlers } from './createHandlers.ts'
export {
  delayFault,
  type Fault,
  type FaultData,
  httpFault,
  type Malformation,
  malformedFault,
  networkFault,
  rpcFault
} from './Fault.ts'
export type {
  MockAnswer,
  MockCall,
  MockExchange,
  MockMethods,
  MockOptions,
  MockResolver
} from './MockOptions.ts'
