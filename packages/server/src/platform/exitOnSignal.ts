const signals = ['SIGTERM', 'SIGINT'] as const

/**
 * Until somebody else answers to the operating system: SIGTERM and SIGINT end the process with exit code 0, because there
 * is nothing to close yet. Without it the default action would end it by the signal, which supervisors call a failure.
 *
 * @returns takes it back; to be called once {@link closeOnSignal} is in place.
 * @remarks Imports nothing, so that it is in place before anything heavy is loaded.
 */
export function exitOnSignal(): () => void {
  const exit = () => process.exit(0)
  for (const signal of signals) process.on(signal, exit)
  return () => {
    for (const signal of signals) process.off(signal, exit)
  }
}
