/** Logs many lines and exits at once. The first use of `process.stdout` makes a pipe non-blocking. */
import { createLogger } from '../../src/platform/logger.ts'

process.stdout.write('')
process.stderr.write('begins\n')
const logger = createLogger({ level: 'info' })
for (let count = 0; count < 20_000; count++) logger.info('line', { count })
process.stderr.write('ends\n')
process.exit(0)
