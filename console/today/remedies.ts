import { closeSubmissions, closureInWords, openSubmissions, readClosure } from '../../db/providers/submissions.ts';
import { readTransferWaits } from '../../db/transfers/waiting-transfers.ts';
import type { Remedy } from '../remedies/remedy.ts';

const submission = { resource: 'submission', page: '/', roles: ['operator'], movesMoney: true } as const;

const stop: Remedy = {
  ...submission,
  kind: 'stop-submissions',
  label: 'Stop all payments',
  isDangerous: true,
  async preview({ services: { database } }) {
    const [closure, waits] = await Promise.all([readClosure(database.reader), readTransferWaits(database.reader)]);
    const open = waits.filter(({ direction }) => direction === 'outgoing');
    const waiting = open.reduce((sum, { count }) => sum + count, 0);
    const isStopped = closure !== null && closure.operator !== null;
    return {
      title: 'Stop all payments',
      consequences: [
        'From now on no payment and no return goes to any bank, until a person starts them again.',
        `${waiting.toLocaleString('en-GB')} open payments stay where they are. Those that a bank has already may still be paid; one that was begun may still go out within thirty seconds.`,
        'Callers can go on requesting payments, and internal transfers go on. Cut-offs may pass meanwhile: payments then move to their next window.',
      ],
      ...(isStopped ? { unavailable: 'They are stopped already.' } : {}),
    };
  },
  async act({ services: { database } }, _, initiator) {
    const { changed } = await database.transaction((tx) => closeSubmissions(tx, initiator.reason ?? '', initiator));
    return changed
      ? { state: 'done', text: 'No payment goes to any bank until they are started again.' }
      : { state: 'unchanged', text: 'They were stopped already; that reason is kept.' };
  },
};

const start: Remedy = {
  ...submission,
  kind: 'start-submissions',
  label: 'Start payments again',
  async preview({ services: { database } }) {
    const closure = await readClosure(database.reader);
    return {
      title: 'Start payments again',
      consequences: [
        'What waited goes out within about a minute, as far as its window is open.',
        ...(closure === null ? [] : [`At present ${closureInWords(closure)}.`]),
      ],
      ...(closure === null ? { unavailable: 'They are not stopped.' } : {}),
      ...(closure !== null && closure.restoreBeganAt !== null
        ? { unavailable: `${closureInWords(closure)}: the restore opens them once it has caught up.` }
        : {}),
    };
  },
  async act({ services: { database } }, _, initiator) {
    const { changed } = await database.transaction((tx) => openSubmissions(tx, initiator.reason ?? '', initiator));
    return changed
      ? { state: 'done', text: 'What waited goes out within about a minute.' }
      : { state: 'unchanged', text: 'They were not stopped.' };
  },
};

export const TODAY_REMEDIES: readonly Remedy[] = [stop, start];
