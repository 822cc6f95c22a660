import { SMTPServer } from 'smtp-server';
import type { Mailbox } from './mailbox.ts';

const MAIL_BYTES_MAX = 1024 * 1024;

/** Answers selected by a suffix after a plus in the recipient's address, as in `ada+rejected@example.com`. */
const REJECTIONS: Readonly<Record<string, readonly [code: number, message: string]>> = {
  rejected: [550, 'No such mailbox'],
  unavailable: [451, 'Try again later'],
};

/** How many attempts per address `unavailable` and `cut` affect. */
const FAULT_COUNT = 2;

export interface SmtpCatcher {
  readonly port: number;
  close(): Promise<void>;
}

/** A mail server that accepts every e-mail and forwards none. */
export async function startSmtpCatcher(options: {
  readonly port: number;
  readonly host: string;
  readonly mailbox: Mailbox;
  readonly now: () => Date;
  readonly onFailure: (error: unknown) => void;
}): Promise<SmtpCatcher> {
  const { mailbox } = options;
  const faults = new Map<string, number>();
  const strikes = (address: string): boolean => {
    const count = faults.get(address) ?? 0;
    faults.set(address, count + 1);
    return count < FAULT_COUNT;
  };
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    logger: false,
    size: MAIL_BYTES_MAX,
    closeTimeout: 1_000,
    onRcptTo({ address }, _session, callback) {
      const word = faultOf(address);
      const rejection = REJECTIONS[word];
      if (rejection !== undefined && (word === 'rejected' || strikes(address))) return callback(replied(...rejection));
      callback();
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.once('error', callback);
      stream.once('end', () => {
        if (stream.sizeExceeded) return callback(replied(552, 'Larger than a mebibyte'));
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        const cut = recipients.find((address) => faultOf(address) === 'cut' && strikes(address));
        mailbox
          .receive(Buffer.concat(chunks), recipients, options.now())
          .then(() => {
            if (cut === undefined) callback();
            // Fails after accepting it, so the sender does not know the outcome.
            else
              for (const connection of server.connections)
                if (connection.id === session.id) connection._socket.destroy();
          })
          .catch(options.onFailure);
      });
    },
  });
  server.on('error', () => {});
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(options.port, options.host, () => resolve());
  });
  const address = server.server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function faultOf(address: string): string {
  return /\+([a-z]+)@/.exec(address)?.[1] ?? '';
}

function replied(code: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode: code });
}
