import type { MetadataService } from '../../src/features/metadata/metadataService.ts'
import type { TokenMetadata } from '../../src/model/documents.ts'

/** A metadata service of which single documents can be read, without a bound on the time. */
export interface TestMetadataService extends MetadataService {
  read(
    uri: string,
    options?: { readonly tokenId?: bigint; readonly signal?: AbortSignal }
  ): Promise<TokenMetadata | undefined>
}

export function withRead(service: MetadataService): TestMetadataService {
  return {
    ...service,
    async read(uri, { tokenId, signal } = {}) {
      const request = { uri, ...(tokenId === undefined ? {} : { tokenId }) }
      const [found] = await service.readAll([request], { budgetMs: 3_600_000, ...(signal ? { signal } : {}) })
      return found
    }
  }
}
