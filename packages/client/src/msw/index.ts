/**
 * The service as request handlers for msw: for tests of a dApp without a node and without a server.
 *
 * @packageDocumentation
 */
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
