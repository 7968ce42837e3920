import { z } from 'zod'
import { quotaRule } from './limitSchemas.ts'

// As in schema.ts, each description also is the "expected ..." of an error.

/** Keys of each kind that a project may have: whoever sends a wrong one has all of them tried. */
export const mostKeys = 100

const printable = z.string().regex(/^[^\p{Cc}]+$/u)

/** RFC 7617: a password may not hold control characters. */
export const keySchema = printable.max(512)

/** An operator's name for a key: shown by `chain-data project list`, never sent by callers. */
export const keyNameSchema = printable.max(64)

/** As the `Origin` header of a web page has it. */
export const originSchema = z
  .string()
  .refine(text => /^https?:\/\//i.test(text) && URL.canParse(text) && new URL(text).origin === text)
  .meta({
    description: 'an origin such as "https://dapp.example": scheme, host and port, nothing behind them'
  })

const moment = (description: string) =>
  z.iso
    .datetime({ offset: true })
    .nullable()
    .default(null)
    .meta({ description: `${description}: a time such as "2026-12-31T00:00:00Z", or null` })

const keyDetails = {
  name: keyNameSchema.nullable().default(null).meta({
    description: 'what the key is called in `chain-data project list`: 1 to 64 characters, or null'
  }),
  createdAt: moment('when the key was made, for `chain-data project list`'),
  expiresAt: moment('when the key ends, from when on it is a wrong one')
}

const serverKey = z.union([keySchema, z.strictObject({ key: keySchema, ...keyDetails })]).meta({
  description:
    'a key: plain text, a digest, or { key, name, createdAt, expiresAt } with times such as "2026-12-31T00:00:00Z"'
})

const clientKey = z.strictObject({
  key: keySchema.meta({
    description: 'a publishable key: plain text or a digest printed by `chain-data project create`'
  }),
  origins: z
    .array(originSchema)
    .min(1)
    .meta({ description: 'origins of the web pages that may use the key: at least one' }),
  ...keyDetails
})

/** User name of HTTP Basic; unique among the projects. */
export const projectIdSchema = z
  .string()
  .max(128)
  .regex(/^[^:\p{Cc}]+$/u)
  .meta({ description: 'user name of HTTP Basic: 1 to 128 characters, no colon, used once' })

const project = z
  .strictObject({
    projectId: projectIdSchema,
    serverKey: keySchema
      .nullable()
      .default(null)
      .meta({
        description:
          'password of HTTP Basic: plain text (development) or a digest printed by `chain-data project create`; ' +
          'null where the project has serverKeys or clientKeys'
      }),
    serverKeys: z
      .array(serverKey)
      .max(mostKeys)
      .default([])
      .meta({
        description:
          'more server keys, as for a change of keys: a list of at most 100 keys, each plain text, a digest, or ' +
          '{ key, name, createdAt, expiresAt }'
      }),
    clientKeys: z.array(clientKey).max(mostKeys).default([]).meta({
      description: 'publishable keys for web pages: a list of at most 100 { key, origins, ... }'
    }),
    rateLimit: z
      .union([quotaRule, z.literal(false)])
      .nullable()
      .default(null)
      .meta({
        description:
          'own quota of the project: { requestsPerSecond, burst } as in rateLimit, false for no limit, or null for the common one'
      })
  })
  .refine(
    ({ serverKey, serverKeys, clientKeys }) =>
      serverKey !== null || serverKeys.length > 0 || clientKeys.length > 0,
    { path: ['serverKey'] }
  )

/** Projects with their keys; every id once. */
export const projectsSchema = z.array(project).superRefine((projects, context) => {
  const projectIds = new Set<string>()
  for (const [index, { projectId }] of projects.entries()) {
    if (projectIds.has(projectId)) context.addIssue({ code: 'custom', path: [index, 'projectId'] })
    projectIds.add(projectId)
  }
})

/** A project as it is written; everything but its id and one key has a default. */
export type ProjectInput = z.input<typeof project>
/** A complete, checked project. */
export type Project = z.output<typeof project>
