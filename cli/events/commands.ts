import type { Command } from '../program/command.ts';
import { EVENT_NAMES } from './event-names.ts';

/** The event log: to watch, to forward, and to make happen. */
export const eventCommands: readonly Command[] = [
  {
    noun: null,
    name: 'tail',
    summary: 'Prints events as they come, until Ctrl-C.',
    options: [
      { name: 'from', value: 'INSTANT', meaning: 'Begins there, as YYYY-MM-DDThh:mm:ssZ; otherwise now' },
      { name: 'after', value: 'POSITION', meaning: 'Begins after this position' },
      { name: 'module', value: 'MODULE', meaning: 'Only its events' },
      { name: 'type', value: 'TYPE', meaning: 'Only these events' },
    ],
    reach: 'api',
    effect: 'reads',
    streams: true,
    load: async () => (await import('./tail.ts')).tail,
  },
  {
    noun: null,
    name: 'listen',
    summary: 'Forwards every event, signed, to a receiver on this machine, in order, from where it left off.',
    options: [
      { name: 'forward-to', value: 'URL', isRequired: true, meaning: 'The receiver' },
      { name: 'from', value: 'INSTANT', meaning: 'Begins there, as YYYY-MM-DDThh:mm:ssZ' },
      { name: 'secret-file', value: 'FILE', meaning: 'Its secret (whsec_…) signs from now on' },
    ],
    reach: 'api',
    effect: 'reads',
    streams: true,
    load: async () => (await import('./listen.ts')).listen,
  },
  {
    noun: null,
    name: 'trigger',
    summary: 'Makes the sandbox cause an event, and waits until the log has it.',
    operands: [{ name: 'EVENT', values: EVENT_NAMES, meaning: 'MODULE.TYPE' }],
    options: [
      {
        name: 'for',
        value: 'ID',
        meaning: 'Of this account, client, transfer or other resource, and not of a new one',
      },
    ],
    reach: 'api',
    effect: 'writes',
    load: async () => (await import('./trigger/trigger.ts')).trigger,
  },
];
