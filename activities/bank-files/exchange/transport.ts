/** `out`: what we deliver. `in`: what the bank has put there for us; it is moved to the archive once we hold it. */
export type Place = 'out' | 'in' | 'archive';

export interface ListedFile {
  readonly name: string;
  readonly size: number;
  readonly modifiedAtMs: number;
  /** Why it cannot be read; absent: it can. Links are not followed, and folders not listed. */
  readonly unfit?: string;
}

export const NOT_ORDINARY = 'it is no ordinary file';

/**
 * Moves files between a bank and us. Each call has a deadline of its own, one is under way at a time, and after any error the transport is
 * closed and never used again: what has happened is seen by the next one's listing.
 */
export interface Transport {
  list(place: Place): Promise<readonly ListedFile[]>;
  /** Writes a file under a temporary name, in place of what has it. */
  upload(temporaryName: string, content: Buffer): Promise<void>;
  /** Gives an uploaded file its name. */
  rename(temporaryName: string, name: string): Promise<void>;
  download(name: string): Promise<Buffer>;
  /** Removes an upload that no file of ours waits for. */
  discard(temporaryName: string): Promise<void>;
  /** Moves a file that we hold out of the bank's folder, and returns what has been moved: the bank may have used its name again. */
  archive(name: string, archivedName: string): Promise<ListedFile>;
  downloadArchived(archivedName: string): Promise<Buffer>;
  /** Never throws, and never waits for an answer. */
  close(): void;
}

export type OpenTransport = () => Promise<Transport>;

/** The bank's server did not do what was asked, or did not say so in time. Without personal data. */
export class TransportFailed extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'TransportFailed';
  }
}

/** More than a year of statements of a busy account; a larger file is left where it is, for a person. */
export const FILE_BYTES_MAX = 64 * 1024 * 1024;

const TEMPORARY_ENDING = '.part';

/** Of one upload. Banks take no file whose name says that it is still being written. */
export function temporaryName(name: string, upload: string): string {
  return `${name}.${upload}${TEMPORARY_ENDING}`;
}

/** Whether a name is that of an upload of this file. */
export function isUploadOf(listedName: string, name: string): boolean {
  return listedName.startsWith(`${name}.`) && listedName.endsWith(TEMPORARY_ENDING);
}

const UNFINISHED = /^\.|\.(part|filepart|tmp|temp|writing)$/i;

/** Whether a name says that its file is still being written. */
export function isUnfinished(name: string): boolean {
  return UNFINISHED.test(name);
}

/** More errors than these are not of single files. */
const FAILURES_MAX = 3;

/** Works at the bank's server: each piece by itself, on another connection after one that failed. */
export interface Connections {
  /** False once the server has failed too often in this round: the rest is left for the next. */
  readonly isOver: () => boolean;
  /** Runs a piece of work; the error that ended it, if the server failed. */
  use(work: (transport: Transport) => Promise<void>): Promise<TransportFailed | null>;
  close(): void;
  /** The first failure; null: there was none. */
  readonly failure: () => TransportFailed | null;
}

export function connectionsTo(openTransport: OpenTransport): Connections {
  let transport: Transport | null = null;
  const failures: TransportFailed[] = [];
  const close = () => {
    transport?.close();
    transport = null;
  };
  return {
    isOver: () => failures.length >= FAILURES_MAX,
    failure: () => failures[0] ?? null,
    close,
    use: async (work) => {
      try {
        transport ??= await openTransport();
        await work(transport);
        return null;
      } catch (error) {
        close();
        if (!(error instanceof TransportFailed)) throw error;
        failures.push(error);
        return error;
      }
    },
  };
}
