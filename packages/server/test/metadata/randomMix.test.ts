import { expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import {
  after,
  bomb,
  drip,
  endless,
  inTurn,
  json,
  raw,
  redirect,
  reset,
  silent,
  status
} from './startRogueHost.ts'
import { useMetadataService } from './useMetadataService.ts'

const { startHosts, over } = useMetadataService()
const seed = Number(process.env.METADATA_MIX_SEED ?? 1)
const bombAnswer = bomb('gzip')

it('whatever hosts answer in whatever order, honest answers always arrive', async () => {
  process.stdout.write(`METADATA_MIX_SEED=${seed}\n`)
  const random = createRandom(seed)
  const hosts = await startHosts(8)
  const host = () => hosts[random.below(hosts.length)] ?? hosts[0]
  // Those that only time ends are rare, so that the test need not wait for many.
  const dishonest = [
    ...[endless, bombAnswer, reset, status(404), status(500), json('[]'), json('<html>'), json('{"a":NaN}')],
    ...[redirect('http://10.0.0.1/'), raw('nonsense\r\n\r\n'), json('['.repeat(1_000))]
  ]
  const pickDishonest = () =>
    random.below(10) === 0
      ? random.pick([silent, drip])
      : (dishonest[random.below(dishonest.length)] ?? silent)
  const service = over(hosts, {}, { timeoutMs: patient(1_500) })

  const calls = Array.from({ length: 12 }, (_, call) =>
    Array.from({ length: 5 + random.below(60) }, (_, i) => {
      const path = `/${call}/${i}`
      const isHonest = random.below(3) > 0
      const text = `{"call":${call},"i":${i}}`
      const answer = isHonest
        ? random.pick([
            json(text),
            after(random.below(100), json(text)),
            json(text, { 'content-type': 'text/html' })
          ])
        : pickDishonest()
      const place = host()
      const uri =
        place?.serve(path, random.below(10) === 0 ? inTurn(redirect(`${path}/there`), answer) : answer) ?? ''
      place?.serve(`${path}/there`, answer)
      return { uri, expected: isHonest ? { call, i } : undefined }
    })
  )
  const answers = await Promise.all(calls.map(call => service.readAll(call, { budgetMs: 60_000 })))
  for (const [call, requests] of calls.entries()) {
    expect(answers[call]?.map(found => found?.data)).toEqual(requests.map(({ expected }) => expected))
  }
  expect(service.figures()).toMatchObject({ running: 0, waiting: 0 })
})
