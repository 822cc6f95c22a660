import type { Contract, Entries, NoEntries, Route, RouteContext, UntypedHandler } from '../route.ts';
import { fields } from '../schemas/schemas.ts';
import type { StreamedFile } from './files.ts';

export interface FileContract<Params extends Entries, Query extends Entries>
  extends Pick<
    Contract<Params, Query>,
    'path' | 'operationId' | 'summary' | 'description' | 'tag' | 'roles' | 'params' | 'query' | 'errors'
  > {
  readonly files: Readonly<Record<string, string>>;
}

/**
 * A GET that answers with a file. An error that the handler throws is a rejection as everywhere; after that the answer has
 * begun, so a failure can only cut the connection.
 */
export function fileRoute<const Params extends Entries = NoEntries, const Query extends Entries = NoEntries>(
  contract: FileContract<Params, Query>,
  handler: (context: RouteContext<Params, Query, NoEntries>) => Promise<StreamedFile>,
): Route {
  return {
    kind: 'route',
    contract: { ...contract, method: 'GET', response: fields({}), examples: { response: {} } },
    // As in `route`.
    handler: handler as unknown as UntypedHandler,
  };
}
