import { StoreError } from '../../platform/errors.ts'

/** Another process or thread writes this index. Whoever wants to write it waits until that one has ended. */
export class StoreInUseError extends StoreError {}
