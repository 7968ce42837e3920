import { z } from 'zod'

// Each description serves three readers: the type's user, `chain-data serve --help`, and whoever gets the key wrong (it
// becomes the "expected ..." of the error). So each says what the key means AND what it accepts.

/** A group of keys that may be left out, each of them too. */
export function group<T extends z.ZodRawShape>(description: string, shape: T) {
  return z
    .strictObject(shape)
    .prefault({} as never)
    .meta({ description })
}

/** An integer whose description says its bounds. */
export function integer(fallback: number, min: number, max: number, description: string) {
  return z.int().min(min).max(max).default(fallback).meta({ description })
}

/** An integer from 1; its bounds are added to the description. */
export function positive(fallback: number, max: number, description: string) {
  return integer(fallback, 1, max, `${description}: 1 to ${max}`)
}

/** An integer from `least`, or null for no bound. */
export function bound(description: string, least = 1) {
  return z.int().min(least).nullable().default(null).meta({ description })
}

export function flag(fallback: boolean, description: string) {
  return z.boolean().default(fallback).meta({ description })
}

/** A list that is empty when left out. */
export function list<T extends z.ZodType>(entry: T, description: string) {
  return z.array(entry).default([]).meta({ description })
}

/** A text of one form. */
export function text(isSo: (text: string) => boolean, description: string) {
  return z.string().refine(isSo).meta({ description })
}

/** A database's name has to be in it: drivers make one up from the user's name otherwise. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(ql)?:\/\//.test(url) && URL.canParse(url) && new URL(url).pathname.length > 1
}

export const postgresForm = 'postgres://<user>@<host>/<database>'

function isUrlOf(schemes: RegExp): (text: string) => boolean {
  return text => schemes.test(text) && URL.canParse(text)
}

export const httpUrl = text(isUrlOf(/^https?:\/\//i), 'an http:// or https:// URL')
export const webSocketUrl = text(isUrlOf(/^wss?:\/\//i), 'a ws:// or wss:// URL')
