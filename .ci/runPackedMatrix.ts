import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { scenarios } from '../packages/client/test/matrix/scenarios.ts'
import { startMatrixServer } from '../packages/client/test/matrix/startMatrixServer.ts'

const program = fileURLToPath(new URL('../packages/client/test/runtimes/matrixProgram.ts', import.meta.url))

/**
 * Runs the client's behaviour matrix with the packed client of a project, over both transports.
 *
 * @param project - A folder with the packed client installed.
 * @returns How many scenarios held.
 * @throws One did not; the message names it.
 */
export async function runPackedMatrix(
  project: string,
  node: string,
  env: NodeJS.ProcessEnv
): Promise<number> {
  await build({
    stdin: {
      contents: `
        import { runMatrix } from ${JSON.stringify(program)}
        const [, , serverUrl, ...titles] = process.argv
        for (const entry of ['axios', 'fetch']) {
          for (const title of titles) {
            const wrong = await runMatrix(entry, title, serverUrl)
            if (wrong !== '') throw new Error(title + ', over ' + entry + ': ' + wrong)
          }
        }`,
      resolveDir: project
    },
    outfile: join(project, 'matrix.mjs'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['@chain-data/*'],
    logLevel: 'silent'
  })
  await using server = await startMatrixServer()
  const titles = scenarios.map(({ title }) => title)
  const child = spawn(node, ['matrix.mjs', server.url, ...titles], {
    cwd: project,
    env,
    stdio: ['ignore', 'inherit', 'pipe']
  })
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk
  })
  const code = await new Promise(resolve => child.once('close', resolve))
  if (code !== 0) throw new Error(`the behaviour matrix does not hold on ${node}:\n${printed}`)
  return 2 * titles.length
}
