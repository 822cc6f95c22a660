import { createSocket } from 'node:dgram';

export interface Question {
  readonly name: string;
  readonly type: 'A' | 'AAAA' | 'other';
}

/** A name server on loopback whose answers the test scripts. */
export interface NameServer {
  /** `address:port`. */
  readonly address: string;
  /** Counts queries, each type and repetition separately. */
  questions(): number;
  close(): Promise<void>;
}

const TYPES: Readonly<Record<number, Question['type']>> = { 1: 'A', 28: 'AAAA' };
const HEADER_BYTES = 12;

/** `answer`: IPv4 addresses for a question; none = no such record; null = silence. */
export async function startNameServer(answer: (question: Question) => readonly string[] | null): Promise<NameServer> {
  let questions = 0;
  const socket = createSocket('udp4');
  socket.on('message', (message, sender) => {
    questions += 1;
    const { question, end } = questionOf(message);
    const addresses = answer(question);
    if (addresses !== null) socket.send(responseTo(message, end, addresses), sender.port, sender.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions: () => questions,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function questionOf(message: Buffer): { question: Question; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.subarray(at + 1, at + 1 + length).toString('latin1'));
    at += 1 + length;
  }
  const type = TYPES[message.readUInt16BE(at + 1)] ?? 'other';
  return { question: { name: labels.join('.'), type }, end: at + 5 };
}

// RFC 1035, section 4: the question comes back, and each answer points at its name.
function responseTo(message: Buffer, end: number, addresses: readonly string[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(message.readUInt16BE(0), 0);
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(addresses.length, 6);
  const answers = addresses.map((address) =>
    Buffer.from([0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([header, message.subarray(HEADER_BYTES, end), ...answers]);
}
