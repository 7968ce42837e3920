/** What the server's parts need of a logger; pino's has this shape. `facts` never holds a secret or a URL. */
export interface Logger {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}
