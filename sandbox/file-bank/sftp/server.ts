import { type AddressInfo, createServer, type Socket } from 'node:net';
import ssh2, { type Connection, type PublicKeyAuthContext } from 'ssh2';
import { isCustomerName } from '../customers.ts';
import type { FileBank } from '../file-bank.ts';
import { CustomerFiles } from './customer-files.ts';
import { authorizedKeys, authorizedKeysFile, hostKey } from './keys.ts';
import { SftpSession } from './session.ts';

const { Server } = ssh2;

export interface SftpServer {
  readonly port: number;
  /** As OpenSSH shows it: `SHA256:…`. */
  readonly hostKeyFingerprint: string;
  close(): Promise<void>;
}

/** The file bank's SFTP server: customers sign in by their name with one of the keys, and see their own folders only. */
export async function startSftpServer(options: {
  readonly bank: FileBank;
  readonly directory: string;
  readonly host: string;
  readonly port: number;
  /** Null: the bank makes a key for customers. */
  readonly authorizedKeys: string | null;
}): Promise<SftpServer> {
  const { bank, directory } = options;
  const keysFile = authorizedKeysFile(directory, options.authorizedKeys);
  const sockets = new Map<string, Socket>();
  const failedRenames = new Map<string, number>();
  const key = hostKey(directory);
  const ssh = new Server({ hostKeys: [key.private] }, (connection, { ip, port }) => {
    const cut = () => sockets.get(placeOf(ip, port))?.destroy();
    serve(connection, { bank, keysFile, failedRenames, cut });
  });
  const server = createServer((socket) => {
    if (bank.faults.strikes('away')) {
      socket.destroy();
      return;
    }
    // Each request waits for its answer.
    socket.setNoDelay(true);
    const place = placeOf(socket.remoteAddress, socket.remotePort);
    sockets.set(place, socket);
    socket.on('close', () => sockets.delete(place));
    // A cut connection is no error of the bank.
    socket.on('error', () => {});
    ssh.injectSocket(socket);
  });
  bank.faults.onChange(() => {
    if (bank.faults.now.connection === 'away') for (const socket of sockets.values()) socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => resolve());
  });
  return {
    port: (server.address() as AddressInfo).port,
    hostKeyFingerprint: key.fingerprint,
    close: async () => {
      for (const socket of sockets.values()) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function placeOf(address: string | undefined, port: number | undefined): string {
  return `${address} ${port}`;
}

function serve(
  connection: Connection,
  parts: {
    readonly bank: FileBank;
    readonly keysFile: string;
    readonly failedRenames: Map<string, number>;
    readonly cut: () => void;
  },
): void {
  const { bank, keysFile, failedRenames, cut } = parts;
  let customer = '';
  connection.on('error', () => {});
  connection.on('authentication', (context) => {
    if (context.method !== 'publickey' || !isCustomerName(context.username) || !isAuthorized(context, keysFile)) {
      context.reject(['publickey']);
      return;
    }
    customer = context.username;
    bank.openCustomer(customer).then(
      () => context.accept(),
      () => context.reject(),
    );
  });
  connection.on('session', (accept) => {
    accept().on('sftp', (acceptSftp) => {
      const session = new SftpSession(acceptSftp(), {
        files: new CustomerFiles(bank.folders.of(customer), (bytes) => bank.opened(customer, bytes)),
        faults: bank.faults,
        beingWritten: bank.beingWritten,
        failedRenames,
        cut,
        onChange: () => bank.look(),
      });
      connection.on('close', () => void session.closeAll());
    });
  });
}

/** A client first asks whether a key would do, and then signs with it. */
function isAuthorized({ key, signature, blob, hashAlgo }: PublicKeyAuthContext, keysFile: string): boolean {
  const known = authorizedKeys(keysFile).find(
    (one) => one.type === key.algo.replace(/^rsa-sha2-.*/, 'ssh-rsa') && one.getPublicSSH().equals(key.data),
  );
  if (known === undefined) return false;
  return signature === undefined || (blob !== undefined && known.verify(blob, signature, hashAlgo) === true);
}
