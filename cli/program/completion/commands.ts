import type { Command } from '../command.ts';
import { SHELLS } from './shells.ts';

export const completionCommands: readonly Command[] = [
  {
    noun: null,
    name: 'completion',
    summary: 'Prints a shell’s script for completion; `fas completion bash --help` says where it goes.',
    operands: [{ name: 'SHELL', values: SHELLS, meaning: 'Its shell' }],
    reach: 'here',
    effect: 'reads',
    load: async () => (await import('./completion.ts')).printCompletionScript,
  },
  {
    noun: null,
    name: 'complete',
    summary: 'Prints what may come last on a command line, for the script of a shell.',
    operands: [{ name: 'WORD', isOptional: true, isRepeated: true, meaning: 'The words so far, after --' }],
    isHidden: true,
    reach: 'here',
    effect: 'reads',
    load: async () => (await import('./complete.ts')).printCandidates,
  },
];
