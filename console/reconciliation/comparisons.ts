import { setTimeout as pause } from 'node:timers/promises';
import { type Provider, ProviderUnavailable } from '../../activities/providers/port.ts';
import {
  type AskedDay,
  type BankFile,
  ComparisonRejected,
  compareForPerson,
  positionsToCompare,
} from '../../activities/reconciliation/on-demand.ts';
import type { Initiator } from '../../db/common/audit-entries.ts';
import type { Reconciliation } from '../../db/reconciliation/days.ts';
import { UnreadableMessage } from '../../domain/bank-files/messages.ts';
import { type DomainError, rejection } from '../../domain/common/errors.ts';
import type { LocalDate } from '../../domain/common/time/dates.ts';
import type { ConsoleServices } from '../http/services.ts';
import type { Outcome } from '../remedies/remedy.ts';

/** A person waits this long for a comparison; a longer one goes on, and its day's page shows what came of it. */
const WAIT_MS_MAX = 20_000;
const CHUNK_BYTES = 64 * 1024;

/** A file that was sent, decoded piece by piece as a file of the disk would be. */
export function bankFileOf(bytes: Uint8Array): BankFile {
  return async function* () {
    const decoder = new TextDecoder();
    for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
      yield decoder.decode(bytes.subarray(start, start + CHUNK_BYTES), { stream: true });
    }
    yield decoder.decode();
  };
}

export interface ComparisonAsked {
  readonly code: string;
  readonly day: LocalDate;
  /** Null: the provider's own statement. */
  readonly file: Uint8Array | null;
}

/** Compares a day as `operate reconcile` does: all currencies of the provider, or those of the file. */
export async function compare(
  services: ConsoleServices,
  { code, day, file }: ComparisonAsked,
  initiator: Initiator,
): Promise<Outcome> {
  const provider = providerOf(services, code);
  const asked = { code, provider, day, file: file === null ? null : bankFileOf(file) };
  const running = compareAll(services, asked, initiator);
  const compared = await Promise.race([running, pause(WAIT_MS_MAX, null, { ref: false })]).catch((error: unknown) => {
    throw rejectionOf(error, code);
  });
  if (compared === null) {
    running.catch((error: unknown) => {
      const name = error instanceof Error ? error.name : 'unknown';
      services.logger.error({ provider: code, day, error: name }, 'a comparison that a person asked for failed');
    });
    return { state: 'unknown', text: `The comparison of ${day} goes on; the day shows what came of it.` };
  }
  if (compared.length === 0) return { state: 'unchanged', text: `We have no money at ${code}.` };
  const open = compared.reduce((sum, { openBreakCount }) => sum + Number(openBreakCount), 0);
  const currencies = compared.map(({ currency }) => currency).join(', ');
  const found = open === 0 ? 'it agrees' : `${open} ${open === 1 ? 'break is' : 'breaks are'} open`;
  const [only, ...others] = compared;
  const goTo = only !== undefined && others.length === 0 ? { goTo: `/reconciliation/${only.id}` } : {};
  return { state: 'done', text: `${day} is compared in ${currencies}: ${found}.`, ...goTo };
}

function providerOf({ providers }: ConsoleServices, code: string): Provider {
  const provider = providers.get(code);
  if (provider === undefined)
    throw rejectionOf(new ComparisonRejected(`The statements of ${code} are not compared.`), code);
  return provider;
}

async function compareAll(services: ConsoleServices, asked: AskedDay, initiator: Initiator): Promise<Reconciliation[]> {
  const compared: Reconciliation[] = [];
  for (const position of await positionsToCompare(services.database.reader, asked)) {
    compared.push(await compareForPerson(services, asked, position, initiator));
  }
  return compared;
}

/** What a person can mend is said on the form; anything else stays a failure. */
function rejectionOf(error: unknown, code: string): DomainError | unknown {
  if (error instanceof ComparisonRejected || error instanceof UnreadableMessage) {
    return rejection('common.validation.field_invalid', ['reconciliation', 'serviceProvider', code], error.message);
  }
  if (error instanceof ProviderUnavailable) {
    const message = `${code} does not give its statement now. What was compared before stays; try again, or upload its file.`;
    return rejection('connect.provider.unavailable', ['reconciliation', 'serviceProvider', code], message);
  }
  return error;
}
