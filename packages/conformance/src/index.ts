/**
 * Examines any service over HTTP, by what the document says.
 *
 * @packageDocumentation
 */
export { type CheckResult, countOf, type Outcome, type Report } from './report/Report.ts'
export {
  type CheckFacts,
  type ConformanceOptions,
  listChecks,
  runConformance
} from './runConformance.ts'
export type { Exchange, ReceivedAnswer, SentRequest } from './wire/Exchange.ts'
