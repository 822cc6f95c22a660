import { findBreak, type ReconciliationBreak, resolveBreak } from '../../db/reconciliation/breaks.ts';
import { findReconciliation, type Reconciliation } from '../../db/reconciliation/days.ts';
import { rejection } from '../../domain/common/errors.ts';
import { asId, type ReconciliationBreakId, type ReconciliationId } from '../../domain/common/ids.ts';
import { checkText } from '../../domain/common/parties/names.ts';
import { isDate } from '../../domain/common/time/dates.ts';
import { NOTE_LENGTH_MAX, resolveByPerson } from '../../domain/reconciliation/break-resolutions.ts';
import { lastComparableDay } from '../../domain/reconciliation/movements.ts';
import { amountText } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import { decided } from '../remedies/decided.ts';
import type { Preview, Remedy, RemedyField } from '../remedies/remedy.ts';
import { compare } from './comparisons.ts';

/** What a form may send as a bank's file; the command reads larger ones. */
export const BANK_FILE_BYTES_MAX = 32 * 1024 * 1024;

/** Where a bank's file is sent to. */
export const BANK_FILE_ADDRESS =
  /^\/(reconciliation\/(upload-bank-file|[0-9a-f-]+\/compare-with-file)|bank-files\/bring-bank-file)$/;

const FILE: RemedyField = {
  name: 'file',
  label: 'The bank’s file (camt.053)',
  hint: `Up to ${BANK_FILE_BYTES_MAX / 1024 / 1024} MiB; a larger one by the command reconcile with --camt-053.`,
  kind: 'file',
};

const NOTHING_IS_POSTED =
  'Differences are recorded as breaks; those that are no longer found are resolved by themselves. Nothing is posted, and no money moves.';

const FROM_FILE = [
  'The whole file is read first; if any of it cannot be read, that is said with its place, and nothing is recorded.',
  'The currencies that it covers are compared with it. The schedule does not compare the day again with the bank’s own statement.',
];

/** For a day that may not have been compared at all: the person names provider and day. */
function compareAnyDay(of: Pick<Remedy, 'kind' | 'label'>, isFile: boolean): Remedy {
  return {
    ...of,
    resource: 'reconciliation',
    page: '/reconciliation',
    roles: ['operator'],
    movesMoney: false,
    async preview({ services, now }: PageContext): Promise<Preview> {
      const day = lastComparableDay(now);
      const providers = [...services.providers.keys()];
      return {
        title: of.label,
        consequences: isFile
          ? [...FROM_FILE, NOTHING_IS_POSTED]
          : ['The provider’s own statement of the day is read and compared, in each currency.', NOTHING_IS_POSTED],
        ...(providers.length === 0 ? { unavailable: 'No provider is configured whose statements are compared.' } : {}),
        fields: [
          {
            name: 'provider',
            label: 'Provider',
            kind: 'choice',
            choices: providers.map((code) => [code, code] as const),
          },
          {
            name: 'day',
            label: 'Day (UTC)',
            hint: `Such as ${day}, the last that is over.`,
            kind: 'text',
            initial: day,
          },
          ...(isFile ? [FILE] : []),
        ],
      };
    },
    act({ services }, { fields, files }, initiator) {
      const { provider: code = '', day = '' } = fields;
      if (!isDate(day)) {
        const message = 'Day is no date: write it as 2026-11-26.';
        throw rejection('common.validation.field_invalid', ['reconciliation', 'date', day], message);
      }
      return compare(services, { code, day, file: isFile ? (files.file ?? null) : null }, initiator);
    },
  };
}

function readDay({ services, params }: PageContext): Promise<Reconciliation | null> {
  return findReconciliation(services.database.reader, asId<ReconciliationId>(params.id ?? ''));
}

/** For a compared day. */
function compareAgain(of: Pick<Remedy, 'kind' | 'label'>, isFile: boolean): Remedy {
  return {
    ...of,
    resource: 'reconciliation',
    page: '/reconciliation/:id',
    roles: ['operator'],
    movesMoney: false,
    ...(isFile ? { fields: [FILE] } : {}),
    async preview(context): Promise<Preview | null> {
      const found = await readDay(context);
      if (found === null) return null;
      const { provider, day, breakCount, openBreakCount } = found;
      const own = `The own statement of ${provider} of ${day} is read and compared, in each currency; it takes the place of a bank’s file.`;
      return {
        title: `${of.label}: ${provider}, ${day}`,
        consequences: [
          ...(isFile ? FROM_FILE : [own]),
          `The day has ${breakCount} breaks, of which ${openBreakCount} are open.`,
          NOTHING_IS_POSTED,
        ],
        ...(context.services.providers.has(provider)
          ? {}
          : { unavailable: `The statements of ${provider} are not compared in this installation.` }),
      };
    },
    async act(context, { files }, initiator) {
      const found = await readDay(context);
      if (found === null) throw new Error('the compared day is gone');
      const asked = { code: found.provider, day: found.day, file: isFile ? (files.file ?? null) : null };
      return compare(context.services, asked, initiator);
    },
  };
}

const NOTE: RemedyField = {
  name: 'note',
  label: 'What was found out',
  hint: `A line of up to ${NOTE_LENGTH_MAX} characters, shown with the break.`,
  kind: 'long-text',
};

function differenceText({ currency, creditMinor, debitMinor }: ReconciliationBreak): string {
  if (currency === null || (creditMinor === 0n && debitMinor === 0n)) return 'It has no effect on the sums of its day.';
  const parts = [
    ...(creditMinor === 0n ? [] : [`${amountText(creditMinor, currency)} in`]),
    ...(debitMinor === 0n ? [] : [`${amountText(debitMinor, currency)} out`]),
  ];
  return `The bank’s sums of its day stay ${parts.join(' and ')} apart from ours, with your note as the reason.`;
}

const resolve: Remedy = {
  kind: 'resolve-break',
  label: 'Resolve with a note',
  resource: 'reconciliation-break',
  page: '/reconciliation-breaks/:id',
  roles: ['operator'],
  movesMoney: false,
  isDangerous: true,
  fields: [NOTE],
  async preview({ services, params, person, now }) {
    const found = await findBreak(services.database.reader, asId<ReconciliationBreakId>(params.id ?? ''));
    if (found === null) return null;
    const decision = decided(() => resolveByPerson(found, { note: '', actor: person.id, now }));
    return {
      title: `Resolve the break ${found.kind}`,
      consequences: [
        'It counts as explained, and its day as agreed once no other break is open. It opens again if its facts change.',
        differenceText(found),
        'Nothing is posted: if our books are wrong, correct them as well.',
      ],
      ...('rejected' in decision ? { unavailable: decision.rejected } : {}),
    };
  },
  async act({ services: { database }, params }, { fields }, initiator) {
    const note = checkText((fields.note ?? '').replaceAll(/\s*[\r\n]+\s*/g, ' '), NOTE_LENGTH_MAX);
    if (typeof note === 'string') {
      const message = `What was found out is a line of up to ${NOTE_LENGTH_MAX} characters.`;
      throw rejection('common.validation.field_invalid', ['reconciliationBreak', 'note', note], message);
    }
    const id = asId<ReconciliationBreakId>(params.id ?? '');
    const resolved = await database.transaction((tx) => resolveBreak(tx, id, note.value, initiator));
    return { state: 'done', text: `The break is ${resolved.status}.` };
  },
};

export const CALENDAR_REMEDIES: readonly Remedy[] = [
  compareAnyDay({ kind: 'compare-day', label: 'Compare a day' }, false),
  compareAnyDay({ kind: 'upload-bank-file', label: 'Upload a bank’s file' }, true),
];

export const DAY_REMEDIES: readonly Remedy[] = [
  compareAgain({ kind: 'compare-again', label: 'Compare again' }, false),
  compareAgain({ kind: 'compare-with-file', label: 'Compare with a bank’s file' }, true),
];

export const BREAK_REMEDIES: readonly Remedy[] = [resolve];

export const RECONCILIATION_REMEDIES: readonly Remedy[] = [...CALENDAR_REMEDIES, ...DAY_REMEDIES, ...BREAK_REMEDIES];
