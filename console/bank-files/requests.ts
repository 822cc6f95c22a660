import { summaryOf } from '../../cli/operations/bank-files/reported-statements.ts';
import {
  askToRelease,
  type BankFileRequest,
  findRequest,
  rejectRequest,
  signRequest,
} from '../../db/bank-files/by-hand/requests.ts';
import type { Reader } from '../../db/query/database.ts';
import { BANK_WORDS, requireOpen, requireSignature, WORD_MEANINGS } from '../../domain/bank-files/by-hand/requests.ts';
import { rejection } from '../../domain/common/errors.ts';
import { asId, type BankFileRequestId } from '../../domain/common/ids.ts';
import { parseWrittenId } from '../../domain/common/payment-references.ts';
import { amountText } from '../look/values.tsx';
import type { PageContext } from '../page/page.ts';
import { decided } from '../remedies/decided.ts';
import type { Remedy } from '../remedies/remedy.ts';
import { asking, bankField, noBank } from './remedies.ts';

export const REQUEST_PAGE = '/bank-file-requests/:id';

/** Who may ask may sign for another, and so may approvers. */
export const SIGNERS = ['approver', 'operator'] as const;

const TITLES: Readonly<Record<BankFileRequest['kind'], string>> = {
  'send-again': 'Send a file once more',
  'take-carried': 'Read a file that a person brought',
  release: 'End the hold of payments',
  'close-restore': 'Close a restore',
};

export function requestTitle({ kind, provider }: Pick<BankFileRequest, 'kind' | 'provider'>): string {
  return `${TITLES[kind]}, ${provider}`;
}

export function sumsOf({ sums }: Pick<BankFileRequest, 'sums'>): string {
  const texts = Object.entries(sums).map(([currency, minor]) => amountText(BigInt(minor), currency));
  return texts.length === 0 ? '–' : texts.join(' and ');
}

/** What a signature does, with numbers. */
async function consequencesOf(reader: Reader, request: BankFileRequest): Promise<readonly string[]> {
  const { kind, provider, fileId, transferIds, bankSays, reason } = request;
  const why = `It was asked for with the reason “${reason}”.`;
  if (kind === 'send-again') {
    return [
      `The file is sent to the bank once more, with its name and bytes: payments of ${sumsOf(request)}.`,
      'If the bank has it after all and does not see that it is the same, it pays twice.',
      why,
    ];
  }
  if (kind === 'take-carried') {
    const told = fileId === null ? [] : await summaryOf(reader, { id: fileId });
    return ['The file is read, and what it tells is booked, as if it had come from the bank.', ...told, why];
  }
  if (kind === 'close-restore') {
    return [`Nothing waits any more for what ${provider} tells. What is held there stays held.`, why];
  }
  return [
    `${transferIds.length.toLocaleString('en-GB')} payments, together ${sumsOf(request)}. Of each, ${bankSays === null ? '' : WORD_MEANINGS[bankSays]}.`,
    'What is no longer held is left as it is.',
    why,
  ];
}

const idOf = ({ params }: PageContext) => asId<BankFileRequestId>(params.id ?? '');

function previewOf(
  title: string,
  check: (context: PageContext, request: BankFileRequest) => void,
  consequences: (reader: Reader, request: BankFileRequest) => Promise<readonly string[]>,
): Remedy['preview'] {
  return async (context) => {
    const request = await findRequest(context.services.database.reader, idOf(context));
    if (request === null) return null;
    const decision = decided(() => check(context, request));
    return {
      title: `${title}: ${requestTitle(request)}`,
      consequences: await consequences(context.services.database.reader, request),
      ...('rejected' in decision ? { unavailable: decision.rejected } : {}),
    };
  };
}

const sign: Remedy = {
  kind: 'sign-bank-file-request',
  label: 'Sign',
  resource: 'bank-file-request',
  page: REQUEST_PAGE,
  roles: SIGNERS,
  movesMoney: true,
  isDangerous: true,
  preview: previewOf(
    'Sign',
    ({ person, services }, request) => {
      const [role = 'viewer'] = person.roles;
      requireSignature(request, { actor: person.id, role }, services.now());
    },
    consequencesOf,
  ),
  async act(context, _, initiator) {
    const { database, configuration } = context.services;
    const { asked, done } = await database.transaction((tx) =>
      signRequest(tx, idOf(context), asking(initiator), configuration.fileExchanges),
    );
    return done === asked
      ? { state: 'done', text: `Signed: all ${done.toLocaleString('en-GB')} done.` }
      : { state: 'done', text: `Signed: ${done} of ${asked} done; the others had moved on, and are left as they are.` };
  },
};

const reject: Remedy = {
  kind: 'reject-bank-file-request',
  label: 'Reject',
  resource: 'bank-file-request',
  page: REQUEST_PAGE,
  roles: SIGNERS,
  movesMoney: false,
  preview: previewOf(
    'Reject',
    (_, request) => requireOpen(request, 'rejected'),
    async () => ['Nothing is done. It can be asked for again.'],
  ),
  async act(context, _, initiator) {
    await context.services.database.transaction((tx) => rejectRequest(tx, idOf(context), asking(initiator)));
    return { state: 'done', text: 'Rejected: nothing is done.' };
  },
};

const release: Remedy = {
  kind: 'release-held-payments',
  label: 'Say what the bank says',
  resource: 'bank-file-request',
  page: '/held-payments',
  roles: ['operator'],
  movesMoney: true,
  isDangerous: true,
  preview: async ({ services }) => ({
    title: 'End the hold of payments',
    consequences: [
      'It is asked for: another person has to sign within 24 hours. Those that are held now are frozen.',
      ...BANK_WORDS.map((word) => `${word}: ${WORD_MEANINGS[word]}.`),
      'A payment that goes on though the bank has it pays twice.',
    ],
    ...noBank(services),
    fields: [
      bankField(services),
      {
        name: 'says',
        label: 'The bank says of each',
        kind: 'choice',
        choices: BANK_WORDS.map((word) => [word, word] as const),
      },
      { name: 'payment', label: 'Payment, by its id; empty for all that are held', kind: 'text', isOptional: true },
    ],
  }),
  async act({ services }, { fields }, initiator) {
    const bankSays = BANK_WORDS.find((known) => known === fields.says);
    const named = fields.payment ?? '';
    const id = named === '' ? null : parseWrittenId(named);
    if (bankSays === undefined || (named !== '' && id === null)) {
      const message = 'Give the payment by its id or payment reference.';
      throw rejection('common.validation.field_invalid', ['bankFileRequest', 'payment', named], message);
    }
    const asked = { provider: fields.bank ?? '', bankSays, transferIds: id === null ? null : [id] };
    const request = await services.database.transaction((tx) => askToRelease(tx, asked, asking(initiator)));
    return {
      state: 'done',
      text: 'It is asked for. Nothing happens until another person has signed.',
      goTo: `/bank-file-requests/${request}`,
    };
  },
};

export const REQUEST_REMEDIES: readonly Remedy[] = [sign, reject];
export const HELD_REMEDIES: readonly Remedy[] = [release];
