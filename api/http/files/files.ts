import { setTimeout as sleep } from 'node:timers/promises';

/** A file that is sent while it is read. */
export interface StreamedFile {
  readonly mediaType: string;
  /** The file name for callers that save it. */
  readonly name: string;
  /** The next part is read only after the caller has received the earlier ones; an error cuts the connection. */
  readonly chunks: AsyncIterable<string>;
}

/**
 * After each part, sending pauses for this many times as long as the part took, so that a long file hardly slows payments: the busier
 * the service, the longer the pauses.
 */
const PAUSE_FACTOR = 3;

/** How the sending of a file ended: in full, because the caller went away, or by a failure. */
export type FileEnd = 'complete' | 'abandoned' | { readonly failure: unknown };

/**
 * The body of an answer, read on demand, with pauses between its parts. On a failure `cut` must end the connection: without the last chunk the caller
 * sees that the file is incomplete. The stream itself stays open, because the server would write its error into the file.
 */
export function fileBody(
  chunks: AsyncIterable<string>,
  { cut, ended }: { readonly cut: () => void; readonly ended: (how: FileEnd) => void },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const parts = chunks[Symbol.asyncIterator]();
  let isOver = false;
  let pauseMs = 0;
  const end = (how: FileEnd) => {
    if (!isOver) ended(how);
    isOver = true;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          await sleep(pauseMs);
          const startedMs = performance.now();
          const { done, value } = await parts.next();
          pauseMs = PAUSE_FACTOR * (performance.now() - startedMs);
          // The caller has gone, which has closed the stream.
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
    // Reads nothing in advance.
    { highWaterMark: 0 },
  );
}
