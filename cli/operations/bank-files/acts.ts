import { open, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { FILE_BYTES_MAX } from '../../../activities/bank-files/exchange/transport.ts';
import {
  handOutFile,
  markDeliveredByHand,
  setFileAside,
  settleFile,
  takeFileAgain,
} from '../../../db/bank-files/by-hand/files.ts';
import type { ShownFile } from '../../../db/bank-files/by-hand/reads.ts';
import { askToSendAgain, askToTakeCarried } from '../../../db/bank-files/by-hand/requests.ts';
import { readContent } from '../../../db/bank-files/files.ts';
import type { Transaction } from '../../../db/query/database.ts';
import { ActionableError } from '../../common/actionable-error.ts';
import { operate } from '../why/commands.ts';
import { bankOf, fileNamed, type Request, reasoned, silenceHoursOf } from './arguments.ts';
import { summaryOf } from './reported-statements.ts';

/** `deliver FILE --to PATH --reason TEXT`: hands out a file's bytes, which a person carries to the bank. */
export async function deliverByHand(request: Request): Promise<0> {
  const { database, options, operands, show } = request;
  const initiator = reasoned(request);
  const { id, name } = await fileNamed(database.reader, operands[0]);
  if (options.to === undefined) throw new ActionableError('Give --to the path that the file gets, or its folder.');
  const path = (await isFolder(options.to)) ? join(options.to, name) : options.to;
  // Whether it can be written is known before the file leaves the service's hands. It holds personal data, and replaces nothing.
  const written = await open(path, 'wx', 0o600);
  let isHandedOut = false;
  try {
    const decided = await database.transaction((tx) => handOutFile(tx, id, initiator));
    isHandedOut = true;
    await written.writeFile(await readContent(database.reader, id));
    await written.sync();
    const again = decided === 'again' ? ', once more' : '';
    const next = operate(`bank-files mark-delivered ${id} --digest SHA256 --reason TEXT`);
    show(
      { id, state: 'handed-out', path, result: decided === 'again' ? 'handed-out-again' : 'handed-out' },
      `${name} is yours to carry${again}: ${path}. The service uploads it no more. Once the bank says the SHA-256 of what it has: ${next}`,
    );
    return 0;
  } finally {
    await written.close();
    if (!isHandedOut) await rm(path, { force: true });
  }
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() === true;
}

/** `mark-delivered FILE --digest SHA256 --reason TEXT`: a person has looked, and the bank has it. */
export async function markDeliveredNow(request: Request): Promise<0> {
  const { database, operands, options, settings, show } = request;
  const initiator = reasoned(request);
  const { digest } = options;
  if (digest === undefined)
    throw new ActionableError('Give --digest the SHA-256 of what the bank has, as sha256sum prints it.');
  const { id, name, provider } = await fileNamed(database.reader, operands[0]);
  const given = { digest, silenceHours: silenceHoursOf(settings, provider) };
  const isChanged = await database.transaction((tx) => markDeliveredByHand(tx, id, given, initiator));
  const text = isChanged
    ? `${name} is at the bank. It is never uploaded again.`
    : `${name} is known to be at the bank.`;
  show({ id, state: 'delivered', result: isChanged ? 'marked-delivered' : 'unchanged' }, text);
  return 0;
}

/** `mark-undelivered FILE --reason TEXT`: the bank says that it has none of it; after a second signature it is sent once more. */
export async function markUndelivered(request: Request): Promise<0> {
  const { database, operands, show } = request;
  const initiator = reasoned(request);
  const { id, name } = await fileNamed(database.reader, operands[0]);
  const requestId = await database.transaction((tx) => askToSendAgain(tx, id, initiator));
  show(
    { id, requestId, result: 'asked' },
    `${name} is sent once more, with its name and bytes, when ${signed(requestId)}`,
  );
  return 0;
}

function signed(requestId: string): string {
  return `another person signs within 24 hours: ${operate(`bank-files sign ${requestId} --reason TEXT`)}`;
}

/** `fetch PATH --bank B --reason TEXT`: takes in a file of the bank that was carried by hand, after a second signature. */
export async function fetchByHand(request: Request): Promise<0> {
  const { database, operands, show } = request;
  const initiator = reasoned(request);
  const [path] = operands;
  const provider = bankOf(request);
  if (path === undefined) throw new ActionableError('Give PATH, the file of the bank.');
  const { size } = await stat(path);
  if (size > FILE_BYTES_MAX) throw new ActionableError(`The file has more than ${FILE_BYTES_MAX / 1024 / 1024} MiB.`);
  const carried = { provider, name: basename(path), content: await readFile(path) };
  const { fileId: id, requestId } = await database.transaction((tx) => askToTakeCarried(tx, carried, initiator));
  if (requestId === null) {
    show({ id, requestId, result: 'unchanged' }, `These bytes are here already: ${operate(`bank-files show ${id}`)}`);
    return 0;
  }
  const summary = await summaryOf(database.reader, { id });
  const text = [`It is kept as ${id}.`, ...summary, `It is read when ${signed(requestId)}`].join('\n');
  show({ id, requestId, summary, result: 'asked' }, text);
  return 0;
}

type Act = (tx: Transaction, id: ShownFile['id'], initiator: ReturnType<typeof reasoned>) => Promise<boolean>;

function simple(result: string, act: Act, texts: { readonly done: string; readonly unchanged: string }) {
  return async (request: Request): Promise<0> => {
    const { database, operands, show } = request;
    const initiator = reasoned(request);
    const { id, name } = await fileNamed(database.reader, operands[0]);
    const isChanged = await database.transaction((tx) => act(tx, id, initiator));
    show({ id, result: isChanged ? result : 'unchanged' }, `${name} ${isChanged ? texts.done : texts.unchanged}`);
    return 0;
  };
}

/** `set-aside FILE --reason TEXT` */
export const setAsideNow = simple('set-aside', setFileAside, {
  done: 'is set aside: the service neither sends nor reads it until a person decides.',
  unchanged: 'is set aside already.',
});

/** `settle FILE --reason TEXT` */
export const settleNow = simple('settled', settleFile, {
  done: 'is seen to, and raises no alarm.',
  unchanged: 'is seen to already.',
});

/** `take-again FILE --reason TEXT` */
export const takeAgainNow = simple(
  'taken-again',
  async (tx, id, initiator) => {
    await takeFileAgain(tx, id, initiator);
    return true;
  },
  { done: 'is read again from its beginning. What it has told before has no second effect.', unchanged: '' },
);
