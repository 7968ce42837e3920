import type { Clock } from '../../platform/clock.ts'
import { ConfigError } from '../../platform/errors.ts'
import type { Upstream } from './upstream.ts'

/** Who is asked next, and after what pause. */
export interface Choice {
  readonly upstream: Upstream
  /** Milliseconds until it may be asked; 0 for at once. */
  readonly waitMs: number
}

export interface Wish {
  readonly preferred: Upstream
  /** Not to be asked (again) for this. */
  readonly without?: ReadonlySet<Upstream>
  /** How often each was asked for this in vain. */
  readonly asked?: ReadonlyMap<Upstream, number>
  readonly height?: number | undefined
  /** An upstream that lacks it is asked last. */
  readonly method?: string
}

/**
 * The best upstream for a piece of work: in service before resting, one that was asked less often, one that has shown the
 * height before one that has not, the preferred one before others, then by score.
 * @returns `undefined` when none is left.
 */
export function chooseUpstream(all: readonly Upstream[], wish: Wish, clock: Clock): Choice | undefined {
  const now = clock.now()
  const candidates = all.filter(upstream => !wish.without?.has(upstream))
  const inService = candidates.filter(upstream => isInService(upstream, now))
  const [best] = rank(inService, wish)
  if (best !== undefined) return { upstream: best, waitMs: 0 }
  // Nobody is well: whoever may be asked first, wrong ones last of all.
  const [soonest] = candidates
    .map(upstream => ({
      upstream,
      isWrong: upstream.identity.known() instanceof ConfigError,
      waitMs: Math.max(0, upstream.health.restUntilMs - now, upstream.health.visitAtMs - now)
    }))
    .sort((a, b) => Number(a.isWrong) - Number(b.isWrong) || a.waitMs - b.waitMs)
  return soonest && { upstream: soonest.upstream, waitMs: soonest.waitMs }
}

/** Neither resting, nor out after failures, nor known to be of another chain. */
export function isInService({ health, identity }: Upstream, now: number): boolean {
  if (identity.known() instanceof ConfigError) return false
  return health.restUntilMs <= now && health.outUntilMs <= now
}

/** The preferred upstream stays until another one's score is so many times its own. */
const clearlyBetter = 1.5

/** The upstream to prefer from now on. */
export function reconsider(all: readonly Upstream[], preferred: Upstream, clock: Clock): Upstream {
  const now = clock.now()
  const others = all.filter(upstream => upstream !== preferred && isInService(upstream, now))
  const [best] = others.sort((a, b) => b.health.score() - a.health.score() || a.position - b.position)
  if (best === undefined) return preferred
  const isBetter = best.health.score() > preferred.health.score() * clearlyBetter
  return isBetter || !isInService(preferred, now) ? best : preferred
}

function rank(upstreams: readonly Upstream[], { preferred, asked, height, method }: Wish): Upstream[] {
  const timesAsked = (upstream: Upstream) => asked?.get(upstream) ?? 0
  const lacks = (upstream: Upstream) => Number(method !== undefined && upstream.capabilities.lacks(method))
  const behind = ({ health }: Upstream) => Number(height !== undefined && (health.head ?? -1) < height)
  return [...upstreams].sort(
    (a, b) =>
      lacks(a) - lacks(b) ||
      timesAsked(a) - timesAsked(b) ||
      Number(a.isDoubted(height)) - Number(b.isDoubted(height)) ||
      behind(a) - behind(b) ||
      Number(b === preferred) - Number(a === preferred) ||
      b.health.score() - a.health.score() ||
      a.position - b.position
  )
}
