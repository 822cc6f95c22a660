import { setTimeout as sleep } from 'node:timers/promises';
import type { Contract, Entries, NoEntries, Route, RouteContext, UntypedHandler } from '../route.ts';
import { fields } from '../schemas/schemas.ts';

/** A file that is sent while it is read. */
export interface StreamedFile {
  readonly mediaType: string;
  /** For the caller who saves it. */
  readonly name: string;
  /** Asked for the next part only when the caller has taken those before; an error cuts the connection. */
  readonly chunks: AsyncIterable<string>;
}

export interface FileContract<Params extends Entries, Query extends Entries>
  extends Pick<
    Contract<Params, Query>,
    'path' | 'operationId' | 'summary' | 'description' | 'tag' | 'roles' | 'params' | 'query' | 'errors'
  > {
  readonly files: Readonly<Record<string, string>>;
}

/**
 * A GET that answers with a file alone. What the handler throws is a refusal as everywhere; after that the answer is
 * under way, so a failure can only cut the connection.
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

/**
 * A file rests so many times as long as its last part took, so that a long one hardly slows payments: the busier the service, the longer a part
 * takes, and the longer the rest.
 */
const REST = 3;

/** How the sending of a file ended: in full, because the caller went away, or by a failure. */
export type FileEnd = 'complete' | 'abandoned' | { readonly failure: unknown };

/**
 * The body of an answer, read on demand, with rests between its parts. On a failure `cut` must end the connection: without the last chunk the caller
 * sees that the file is not whole. The stream itself then stays open, as the server would report its error in the file.
 */
export function fileBody(
  chunks: AsyncIterable<string>,
  { cut, ended }: { readonly cut: () => void; readonly ended: (how: FileEnd) => void },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const parts = chunks[Symbol.asyncIterator]();
  let isOver = false;
  let restMs = 0;
  const end = (how: FileEnd) => {
    if (!isOver) ended(how);
    isOver = true;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          await sleep(restMs);
          const startedMs = performance.now();
          const { done, value } = await parts.next();
          restMs = REST * (performance.now() - startedMs);
          // The caller went away meanwhile, which has closed the stream.
          if (isOver) return;
          if (done !== true) return controller.enqueue(encoder.encode(value));
          controller.close();
          end('complete');
        } catch (failure) {
          end({ failure });
          cut();
        }
      },
      async cancel() {
        end('abandoned');
        await parts.return?.();
      },
    },
    // Nothing is read ahead of the caller.
    { highWaterMark: 0 },
  );
}
