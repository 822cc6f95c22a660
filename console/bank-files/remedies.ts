import {
  markDeliveredByHand,
  readStanding,
  setFileAside,
  settleFile,
  takeFileAgain,
} from '../../db/bank-files/by-hand/files.ts';
import { askToSendAgain, askToTakeCarried } from '../../db/bank-files/by-hand/requests.ts';
import type { Initiator } from '../../db/common/audit-entries.ts';
import type { Transaction } from '../../db/query/database.ts';
import {
  decideDelivered,
  decideSetAside,
  decideSettled,
  type FileStanding,
  requireSendable,
  requireTakeable,
} from '../../domain/bank-files/by-hand/files.ts';
import { rejection } from '../../domain/common/errors.ts';
import { asId, type BankFileId } from '../../domain/common/ids.ts';
import type { PageContext } from '../page/page.ts';
import { decided } from '../remedies/decided.ts';
import type { Outcome, Remedy, RemedyField, RemedyInput } from '../remedies/remedy.ts';

export const FILE_PAGE = '/bank-files/:id';

const ofFile = { resource: 'bank-file', page: FILE_PAGE, roles: ['operator'] } as const;

type Asking = Initiator & { readonly reason: string };

/** The frame has checked that there is a reason. */
export function asking(initiator: Initiator): Asking {
  return { ...initiator, reason: initiator.reason ?? '' };
}

interface FileRemedy extends Pick<Remedy, 'kind' | 'label' | 'movesMoney' | 'isDangerous' | 'fields'> {
  readonly consequences: readonly string[];
  /** Of domain/: throws if it would be rejected. */
  decide(file: FileStanding): unknown;
  act(tx: Transaction, id: BankFileId, initiator: Asking, given: RemedyInput, context: PageContext): Promise<Outcome>;
}

function remedyOf({ consequences, decide, act, ...kind }: FileRemedy): Remedy {
  return {
    ...ofFile,
    ...kind,
    async preview({ services, params }) {
      const file = await readStanding(services.database.reader, asId<BankFileId>(params.id ?? ''));
      if (file === null) return null;
      const decision = decided(() => decide(file));
      return {
        title: `${kind.label}: file of ${file.provider}`,
        consequences,
        ...('rejected' in decision ? { unavailable: decision.rejected } : {}),
      };
    },
    act: (context, input, initiator) =>
      context.services.database.transaction((tx) =>
        act(tx, asId<BankFileId>(context.params.id ?? ''), asking(initiator), input, context),
      ),
  };
}

function changed(isChanged: boolean, done: string, unchanged: string): Outcome {
  return isChanged ? { state: 'done', text: done } : { state: 'unchanged', text: unchanged };
}

const markDelivered = remedyOf({
  kind: 'mark-file-delivered',
  label: 'The bank has it',
  movesMoney: true,
  fields: [
    {
      name: 'digest',
      label: 'Digest of what the bank has',
      hint: 'SHA-256, 64 hexadecimal digits, as the bank says it or sha256sum prints it.',
      kind: 'text',
    },
  ],
  consequences: [
    'It is never uploaded again. Its payments count as delivered, and wait for the bank’s answers.',
    'If the bank does not have it, its payments are not made, and its silence becomes an alarm.',
  ],
  decide: (file) => decideDelivered(file, file.digest ?? ''),
  async act(tx, id, initiator, { fields }, { services }) {
    const file = await readStanding(tx, id);
    const silenceHours = silenceHoursOf(services, file?.provider ?? '');
    const given = { digest: fields.digest ?? '', silenceHours };
    const isChanged = await markDeliveredByHand(tx, id, given, initiator);
    return changed(isChanged, 'It is at the bank, and never uploaded again.', 'It was known to be at the bank.');
  },
});

function silenceHoursOf({ configuration }: PageContext['services'], provider: string): number {
  const exchange = configuration.fileExchanges.get(provider);
  const profile = exchange === undefined ? undefined : configuration.bankProfiles.get(exchange.profile);
  if (profile !== undefined) return profile.silenceHours;
  const message = `${provider} exchanges no files in the console’s configuration: give it the workers’.`;
  throw rejection('common.state.illegal_transition', ['bankFile', 'provider', provider], message);
}

const sendAgain = remedyOf({
  kind: 'send-file-again',
  label: 'The bank has none of it',
  movesMoney: true,
  isDangerous: true,
  consequences: [
    'It is asked for: another person has to sign within 24 hours. Then it is sent once more, with its name and bytes.',
    'If the bank has it after all and does not see that it is the same, it pays twice.',
  ],
  decide: requireSendable,
  async act(tx, id, initiator) {
    const request = await askToSendAgain(tx, id, initiator);
    return {
      state: 'done',
      text: 'It is asked for. Nothing is sent until another person has signed.',
      goTo: `/bank-file-requests/${request}`,
    };
  },
});

const setAside = remedyOf({
  kind: 'set-file-aside',
  label: 'Set aside',
  movesMoney: false,
  isDangerous: true,
  consequences: ['The service neither sends nor reads it until a person decides. It raises an alarm until then.'],
  decide: decideSetAside,
  act: async (tx, id, initiator) =>
    changed(await setFileAside(tx, id, initiator), 'It is set aside.', 'It was set aside already.'),
});

const settle = remedyOf({
  kind: 'settle-file',
  label: 'It is seen to',
  movesMoney: false,
  consequences: ['Its alarm ends. It stays set aside, and its bytes are kept.'],
  decide: decideSettled,
  act: async (tx, id, initiator) =>
    changed(await settleFile(tx, id, initiator), 'Its alarm has ended.', 'Its alarm had ended.'),
});

const takeAgain = remedyOf({
  kind: 'take-file-again',
  label: 'Read it again',
  movesMoney: true,
  consequences: ['It is read from its beginning. What it has told before has no second effect.'],
  decide: requireTakeable,
  async act(tx, id, initiator) {
    await takeFileAgain(tx, id, initiator);
    return { state: 'unknown', text: 'It is being read again. What comes of it appears here.' };
  },
});

const FILE: RemedyField = {
  name: 'file',
  label: 'The bank’s file',
  hint: 'Up to 32 MiB; a larger one by the command bank-files fetch.',
  kind: 'file',
};

/** The banks with which files are exchanged, as a choice. */
export function bankField({ configuration }: PageContext['services']): RemedyField {
  const choices = [...configuration.fileExchanges.keys()].map((code) => [code, code] as const);
  return { name: 'bank', label: 'Bank', kind: 'choice', choices };
}

export function noBank({ configuration }: PageContext['services']): { readonly unavailable?: string } {
  return configuration.fileExchanges.size === 0 ? { unavailable: 'No provider here exchanges files.' } : {};
}

const bring: Remedy = {
  kind: 'bring-bank-file',
  label: 'Bring a file of a bank',
  resource: 'bank-file',
  page: '/bank-files',
  roles: ['operator'],
  movesMoney: true,
  preview: async ({ services }) => ({
    title: 'Bring a file that was carried by hand',
    consequences: [
      'It is kept, and read when another person has signed within 24 hours: it books money.',
      'The same bytes are taken once: if they come over the bank’s server as well, nothing is booked twice.',
    ],
    ...noBank(services),
    fields: [bankField(services), { name: 'name', label: 'Its name', kind: 'text' }, FILE],
  }),
  async act({ services }, { fields, files }, initiator) {
    const content = files.file;
    if (content === undefined) {
      throw rejection('common.validation.field_required', ['bankFile', 'content', ''], 'Choose the bank’s file.');
    }
    const file = { provider: fields.bank ?? '', name: (fields.name ?? '').slice(0, 255), content };
    const brought = await services.database.transaction((tx) => askToTakeCarried(tx, file, asking(initiator)));
    return brought.requestId === null
      ? { state: 'unchanged', text: 'These bytes are here already.', goTo: `/bank-files/${brought.fileId}` }
      : {
          state: 'done',
          text: 'It is kept. It is read once another person has signed.',
          goTo: `/bank-file-requests/${brought.requestId}`,
        };
  },
};

export const BRING_REMEDIES: readonly Remedy[] = [bring];
export const FILE_REMEDIES: readonly Remedy[] = [markDelivered, sendAgain, setAside, settle, takeAgain];
