import { createHash } from 'node:crypto';
import { BlockList, connect, isIP, type Socket } from 'node:net';
import { posix } from 'node:path';
import ssh2, { type ParsedKey, type PublicKeyAuthMethod } from 'ssh2';
import SftpClient from 'ssh2-sftp-client';
import type { SftpSettings } from '../../../config/schema/file-exchange.ts';
import {
  type ListedFile,
  NOT_ORDINARY,
  type OpenTransport,
  type Place,
  type Transport,
  TransportFailed,
} from './transport.ts';

/** For a call at the bank's server; far below the lease of the exchange. */
const DEADLINE_MS = 30_000;
const CONNECT_DEADLINE_MS = 15_000;

export interface SftpSecrets {
  /** The private key's file, as it is: encrypted. */
  readonly privateKey: string;
  readonly passphrase: string;
}

/**
 * A bank's SFTP server. The library's calls may stay unsettled after an error, and its `end` may hang: so each call has a deadline, a call
 * is never made while another is under way, and after any error the socket is destroyed.
 */
export function sftpTransport(
  settings: SftpSettings,
  secrets: SftpSecrets,
  deadlineMs: number = DEADLINE_MS,
): OpenTransport {
  // Once: to try a passphrase takes about a second, in which this process does nothing else.
  const byKey: PublicKeyAuthMethod = { type: 'publickey', username: settings.user, key: openKey(secrets) };
  return async () => {
    const socket = await openSocket(settings, Math.min(deadlineMs, CONNECT_DEADLINE_MS));
    const client = new SftpClient(`sftp ${settings.host}`, {
      error: () => socket.destroy(),
      end: () => socket.destroy(),
      close: () => socket.destroy(),
    });
    const step = oneAtATime(socket, deadlineMs);
    await step('connect', () =>
      client.connect({
        sock: socket,
        username: settings.user,
        authHandler: [byKey],
        readyTimeout: deadlineMs,
        hostVerifier: (key: Buffer) => settings.hostKeys.includes(fingerprintOf(key)),
      }),
    );
    return transportOver(client, socket, settings, step);
  };
}

/** As `ssh-keygen -l` prints it. */
export function fingerprintOf(publicKey: Buffer): string {
  return `SHA256:${createHash('sha256').update(publicKey).digest('base64').replace(/=+$/, '')}`;
}

type Step = <Result>(operation: string, call: () => Promise<Result>) => Promise<Result>;

function transportOver(client: SftpClient, socket: Socket, settings: SftpSettings, step: Step): Transport {
  const path = (place: Place, name: string) => posix.join(settings[place], name);
  const bytesOf = async (from: string) => {
    const content = await client.get(from);
    if (!Buffer.isBuffer(content)) throw new Error('no bytes');
    return content;
  };
  return {
    list: (place) => step('list', async () => filesOf(await client.list(settings[place]))),
    upload: (temporaryName, content) =>
      step('upload', async () => {
        await client.put(content, path('out', temporaryName));
      }),
    rename: (temporaryName, name) =>
      step('rename', async () => {
        await client.rename(path('out', temporaryName), path('out', name));
      }),
    download: (name) => step('download', () => bytesOf(path('in', name))),
    discard: (temporaryName) =>
      step('discard', async () => {
        await client.delete(path('out', temporaryName));
      }),
    archive: (name, archivedName) =>
      step('archive', async () => {
        await client.rename(path('in', name), path('archive', archivedName));
        const { size, modifyTime } = await client.stat(path('archive', archivedName));
        return { name: archivedName, size, modifiedAtMs: modifyTime };
      }),
    downloadArchived: (archivedName) => step('download archived', () => bytesOf(path('archive', archivedName))),
    close: () => void socket.destroy(),
  };
}

const FILE = '-';
const FOLDER = 'd';

function filesOf(listed: readonly SftpClient.FileInfo[]): ListedFile[] {
  return listed
    .filter(({ type }) => type !== FOLDER)
    .map(({ name, type, size, modifyTime }) => ({
      name,
      size,
      modifiedAtMs: modifyTime,
      ...(type === FILE ? {} : { unfit: NOT_ORDINARY }),
    }));
}

/** Calls one after the other, each with its deadline; after any error there is no further one. */
function oneAtATime(socket: Socket, deadlineMs: number): Step {
  let state: 'free' | 'busy' | 'lost' = 'free';
  return async (operation, call) => {
    if (state !== 'free') throw new TransportFailed(`${operation}: the connection is ${state}`);
    state = 'busy';
    let fail: (how: string) => void = () => {};
    const lost = new Promise<never>((_, reject) => {
      fail = (how) => reject(new TransportFailed(`${operation}: ${how}`));
    });
    lost.catch(() => {});
    const timer = setTimeout(() => fail('no answer in time'), deadlineMs);
    // The library may not tell.
    const onClose = () => fail('the connection is closed');
    socket.once('close', onClose);
    try {
      const result = await Promise.race([call(), lost]);
      state = 'free';
      return result;
    } catch (error) {
      state = 'lost';
      socket.destroy();
      throw error instanceof TransportFailed
        ? error
        : new TransportFailed(`${operation}: ${codeOf(error)}`, { cause: error });
    } finally {
      clearTimeout(timer);
      socket.off('close', onClose);
    }
  };
}

/** The library's texts name paths and addresses: only its code is told. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'failed';
}

/** Connects, and checks the address that was reached: a name may lead anywhere. */
async function openSocket({ host, port, addresses }: SftpSettings, deadlineMs: number): Promise<Socket> {
  // A small packet that waits for the last one's acknowledgement makes each call thirty times as slow.
  const socket = connect({ host, port, noDelay: true });
  // Errors after the connection are those of calls.
  socket.on('error', () => {});
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new TransportFailed('connect: no answer in time')), deadlineMs);
      socket.once('connect', () => {
        clearTimeout(timer);
        resolve();
      });
      socket.once('error', (error) => {
        clearTimeout(timer);
        reject(new TransportFailed(`connect: ${codeOf(error)}`, { cause: error }));
      });
    });
    if (addresses !== null && !isIn(addresses, socket.remoteAddress ?? '')) {
      throw new TransportFailed('connect: the address is not among those that are allowed');
    }
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function isIn(networks: readonly string[], address: string): boolean {
  const allowed = new BlockList();
  for (const network of networks) {
    const [net = '', prefix = ''] = network.split('/');
    allowed.addSubnet(net, Number(prefix), isIP(net) === 6 ? 'ipv6' : 'ipv4');
  }
  const family = isIP(address);
  return family !== 0 && allowed.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Whether a private key can be read without a passphrase. */
export function isPlainKey(privateKey: string): boolean {
  return !(ssh2.utils.parseKey(privateKey) instanceof Error);
}

/** A private key lies on a disk: it must be of no use to who reads it there. */
function openKey({ privateKey, passphrase }: SftpSecrets): ParsedKey {
  if (isPlainKey(privateKey)) {
    throw new TransportFailed('The private key for SFTP is not encrypted. Encrypt it: ssh-keygen -p -f FILE.');
  }
  const key = ssh2.utils.parseKey(privateKey, passphrase);
  if (key instanceof Error) throw new TransportFailed('The private key for SFTP cannot be read with SFTP_PASSPHRASE.');
  return key;
}
