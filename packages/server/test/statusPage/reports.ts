import type {
  EvmChainStatus,
  StatusReport
} from '../../src/features/operatorPages/statusPage/StatusReport.ts'

/** 2026-11-21 14:32:05 UTC. */
const nowSeconds = 1_795_271_525

/** A chain that is in sync; `change` replaces members, `undefined` removes them. */
export function chainWith(
  change: { [Name in keyof EvmChainStatus]?: EvmChainStatus[Name] | undefined } = {}
) {
  const chain = {
    chainId: 1,
    label: `Chain ${change.chainId ?? 1}`,
    phase: 'following',
    ready: true,
    backfilled: true,
    head: 19_426_587,
    headAgeSeconds: 9,
    finalized: 19_426_520,
    indexedFrom: 0,
    indexedTo: 19_426_587,
    lagBlocks: 0,
    lagSeconds: 0,
    degraded: false,
    poolCovered: true,
    poolAgeSeconds: 1,
    poolTransactions: 5_120,
    storeBytes: 612 * 2 ** 30,
    transactionsPerSecond: 14,
    percent: 100,
    blocksPerSecond: 0.083,
    nodes: { total: 3, inService: 3 },
    webSockets: { total: 1, connected: 1 },
    ...change
  }
  const known = Object.entries(chain).filter(([, value]) => value !== undefined)
  return Object.fromEntries(known) as unknown as EvmChainStatus
}

/** Half an hour of a series. */
function series(value: (place: number) => number): readonly (readonly [number, number])[] {
  return Array.from({ length: 180 }, (_, place) => [nowSeconds - (179 - place) * 10, value(place)] as const)
}

/** A report on these chains, some calls and half an hour of charts. */
export function reportOf(
  evm: readonly EvmChainStatus[],
  solana: StatusReport['solana'] = [],
  server: Partial<StatusReport['server']> = {}
): StatusReport {
  const isIndexing = (chain: EvmChainStatus) => !chain.backfilled
  return {
    formatVersion: 1,
    server: {
      version: '0.1.0',
      nowSeconds,
      uptimeSeconds: 187_200,
      ready: evm.every(({ backfilled }) => backfilled),
      inFlight: 3,
      callsPerSecond: 12,
      calls: [
        { method: 'enhancedGetTokensAndNFTs', count: 312, failed: 4, p50Ms: 42, p95Ms: 180, p99Ms: 420 },
        { method: 'svc_getSyncStatus', count: 60, failed: 0, p50Ms: 0.21, p95Ms: 0.53, p99Ms: 1.1 },
        { method: 'svc_getTokensAndNFTs', count: 1_204, failed: 2, p50Ms: 18, p95Ms: 61, p99Ms: 150 },
        { method: 'svc_getTransactionsByAddress', count: 2_890, failed: 0, p50Ms: 1.4, p95Ms: 9.1, p99Ms: 31 }
      ],
      refusals: { UNAUTHENTICATED: 14, OVERLOADED: 2 },
      memory: { rssBytes: 231_000_000, heapUsedBytes: 84_000_000 },
      eventLoopDelay: { p99Ms: 21, maxMs: 34 },
      ...server
    },
    evm,
    solana,
    charts: {
      everySeconds: 10,
      callsPerSecond: series(place => Math.round(10 + 6 * Math.sin(place / 17) + (place % 7))),
      p95Ms: series(place => Math.round(40 + 20 * Math.sin(place / 9) + (place % 5))),
      evm: evm.map(chain => ({
        chainId: chain.chainId,
        lagBlocks: series(place =>
          isIndexing(chain)
            ? 20_000_000 - place * 60_000
            : chain.phase === 'following' && place % 23 === 0
              ? 1
              : 0
        ),
        blocksPerSecond: series(place =>
          isIndexing(chain)
            ? 5_000 + Math.round(900 * Math.sin(place / 8))
            : Number(((chain.blocksPerSecond ?? 0) * (1 + 0.2 * Math.sin(place / 9))).toFixed(3))
        )
      }))
    }
  }
}

const polygon = chainWith({
  ...{ chainId: 137, label: 'Polygon (137)', head: 55_120_331, indexedTo: 55_120_331, finalized: 55_120_267 },
  ...{ lastReorg: { atSeconds: nowSeconds - 5_040, blocks: 3 }, transactionsPerSecond: 44 },
  ...{ storeBytes: 388 * 2 ** 30, poolTransactions: 812 },
  ...{ blocksPerSecond: 0.47, nodes: { total: 2, inService: 2 } }
})

const solanaFine: StatusReport['solana'][number] = {
  ...{ chainId: 101, phase: 'following', ready: true, degraded: false, head: 301_224_518 },
  ...{ headAgeSeconds: 2, answeredSecondsAgo: 2 }
}

/** Every state that the page has to tell, by name. */
export const states: Readonly<Record<string, StatusReport>> = {
  inSync: reportOf([chainWith(), polygon], [solanaFine]),
  indexing: reportOf([
    chainWith({
      phase: 'backfilling',
      ready: false,
      backfilled: false,
      indexedTo: 8_412_000,
      lagBlocks: 11_014_587,
      lagSeconds: undefined,
      percent: 43.3,
      blocksPerSecond: 15_298,
      etaSeconds: 720,
      transactionsPerSecond: 31_880,
      poolTransactions: undefined,
      storeBytes: 118 * 2 ** 30,
      poolAgeSeconds: undefined,
      poolCovered: false
    })
  ]),
  stalled: reportOf([
    chainWith(),
    chainWith({
      ...polygon,
      blocksPerSecond: 0,
      transactionsPerSecond: 0,
      poolAgeSeconds: 742,
      phase: 'stalled',
      degraded: true,
      stalledSinceSeconds: nowSeconds - 740,
      problem: 'block 55120332: no node answers: node 1 was not reachable, node 2 asks for a pause of 30 s',
      nodes: { total: 2, inService: 0 }
    })
  ]),
  degraded: reportOf([chainWith({ degraded: true })]),
  byAnother: reportOf([chainWith({ waiting: true, transactionsPerSecond: undefined })]),
  littleSpace: reportOf([chainWith({ freeBytes: 3 * 2 ** 30 })]),
  onlyAnswers: reportOf([chainWith({ waiting: true, indexing: false, transactionsPerSecond: undefined })]),
  notHeardOf: reportOf([chainWith({ waiting: true, indexing: false, phase: 'starting' })]),
  goingBack: reportOf([chainWith({ rollingBackTo: 19_426_560, phase: 'following' })]),
  waiting: reportOf([
    chainWith({
      phase: 'starting',
      ready: false,
      backfilled: false,
      head: undefined,
      finalized: undefined,
      indexedTo: undefined,
      indexedFrom: undefined,
      lagBlocks: undefined,
      lagSeconds: undefined,
      percent: undefined,
      blocksPerSecond: undefined,
      transactionsPerSecond: undefined,
      poolTransactions: undefined,
      storeBytes: undefined,
      poolAgeSeconds: undefined,
      poolCovered: false
    })
  ]),
  behind: reportOf([chainWith({ lagBlocks: 240, lagSeconds: 2_880, indexedTo: 19_426_347 })]),
  several: reportOf([
    chainWith(),
    chainWith({ chainId: 10, phase: 'stalled', problem: 'no node answers' }),
    polygon,
    chainWith({ chainId: 8_453, lagBlocks: 240, lagSeconds: 2_880 })
  ]),
  closing: reportOf([chainWith()], [], { closing: true, ready: false }),
  solanaOnly: reportOf([], [solanaFine]),
  solanaSilent: reportOf(
    [chainWith()],
    [
      {
        ...{ chainId: 101, phase: 'stalled', ready: false, degraded: true },
        problem: 'no node answered within 5 s'
      }
    ]
  ),
  hostile: reportOf([
    chainWith({
      phase: 'stalled',
      problem: `<img src=x onerror="document.title='owned'"></p><script>alert(1)</script>&lt;b&gt; ' " ${'W'.repeat(200)}`
    })
  ])
}
